/// The path and query of a request (RFC 9110, section 4.2), split and decoded.
package struct RequestTarget: Hashable, Sendable {
    /// Percent-decoded segments without slashes. A final slash makes no segment.
    package let segments: [String]
    package let query: [QueryItem]
    /// The target as sent, for digests and logs.
    package let text: String
    /// True if the query has more than `queryItemsMax` parameters; `query` lacks the rest.
    package let hasTooManyItems: Bool

    /// Maximum number of query parameters: four times as many as any route takes.
    package static let queryItemsMax = 64

    /// One name and value of the query, unescaped.
    package struct QueryItem: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    /// Nil if the target is not a path, or if a segment or an escape is invalid.
    package init?(_ text: String) {
        // Parse bytes: a target may have 16 kB, and parsing characters costs twenty times as much.
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        self.text = text
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.utf8.endIndex
        let path = text.utf8[..<end].dropFirst()
        var segments: [String] = []
        for part in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = Self.decoded(part, plusIsSpace: false), Self.isPlain(segment) else {
                return nil
            }
            segments.append(segment)
        }
        if segments.last == "" { segments.removeLast() }
        self.segments = segments
        var items: [QueryItem] = []
        let parts = text.utf8[end...].dropFirst().split(
            separator: UInt8(ascii: "&"), maxSplits: Self.queryItemsMax)
        for part in parts.prefix(Self.queryItemsMax) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = Self.decoded(part[..<equals], plusIsSpace: true),
                let value = Self.decoded(part[equals...].dropFirst(), plusIsSpace: true)
            else { return nil }
            items.append(QueryItem(name: name, value: value))
        }
        query = items
        hasTooManyItems = parts.count > Self.queryItemsMax
    }

    /// The value of the first parameter with this name, "" if it has no value; nil if there is no
    /// such parameter.
    package subscript(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// False if the decoded segment contains control characters or a "." or ".." part. A proxy that
    /// decodes paths might resolve these and reach another path.
    private static func isPlain(_ segment: String) -> Bool {
        segment.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
            && segment.split(separator: "/").allSatisfy { $0 != "." && $0 != ".." }
    }

    /// Decodes percent escapes (RFC 3986, section 2.1). In queries `+` is a space, as in forms.
    private static func decoded(_ text: Substring.UTF8View, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
