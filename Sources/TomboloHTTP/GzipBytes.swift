import CZlib

/// Bytes compressed once, for answers that never change.
package enum GzipBytes {
    /// In the format of gzip (RFC 1952); nil where that is not shorter.
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
    /// Whether an answer may come in gzip (RFC 9110, section 12.5.3): it is named, or `*` is, and
    /// its weight is not 0.
    package var acceptsGzip: Bool {
        var (named, any): (Bool?, Bool) = (nil, false)
        for field in values("accept-encoding") {
            for choice in field.lowercased().split(separator: ",") {
                let parts = choice.split(separator: ";").map { part in
                    part.filter { $0 != " " && $0 != "\t" }
                }
                let isWanted = !parts.dropFirst().contains {
                    $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0
                }
                switch parts.first {
                case "gzip": named = isWanted
                case "x-gzip": named = named ?? isWanted
                case "*": any = isWanted
                default: break
                }
            }
        }
        return named ?? any
    }
}
