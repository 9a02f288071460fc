import CZlib

/// Compresses bytes once, for answers that never change.
package enum GzipBytes {
    /// The bytes in gzip format (RFC 1952); nil if that is not shorter.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        let short = [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            count = Int(
                tombolo_gzip(
                    bytes, UInt32(clamping: bytes.count), room.baseAddress,
                    UInt32(clamping: room.count)))
        }
        return short.isEmpty ? nil : short
    }
}

extension HTTPFields {
    /// True if the client accepts gzip (RFC 9110, section 12.5.3): the field names it or `*`, with
    /// a weight other than 0.
    package var acceptsGzip: Bool {
        let field = "accept-encoding"
        return weighs("gzip", in: field) ?? weighs("x-gzip", in: field) ?? weighs("*", in: field)
            ?? false
    }

    /// True if a choice has a weight other than 0 in a field such as `accept`; nil if the field
    /// does not name it.
    package func weighs(_ choice: String, in field: String) -> Bool? {
        for one in values(field).flatMap({ $0.lowercased().split(separator: ",") }) {
            let parts = one.split(separator: ";").map { part in
                part.filter { $0 != " " && $0 != "\t" }
            }
            guard parts.first == choice else { continue }
            return !parts.dropFirst().contains {
                $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0
            }
        }
        return nil
    }
}
