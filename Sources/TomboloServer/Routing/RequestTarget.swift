/// The path and query of a request (RFC 9110, section 4.2), taken apart and decoded.
package struct RequestTarget: Hashable, Sendable {
    /// Percent-decoded, without the slashes between them. A slash at the end makes no segment.
    package let segments: [String]
    package let query: [QueryItem]
    /// As sent, for digests and logs.
    package let text: String

    /// One name and value of the query, unescaped.
    package struct QueryItem: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    /// Answers nil for a target that is no path, or whose escapes are broken or no UTF-8.
    package init?(_ text: String) {
        guard text.hasPrefix("/") else { return nil }
        self.text = text
        let halves = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var segments: [String] = []
        for part in halves[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = Self.decoded(part, plusIsSpace: false) else { return nil }
            segments.append(segment)
        }
        if segments.last == "" { segments.removeLast() }
        self.segments = segments
        var items: [QueryItem] = []
        for part in halves.count == 2 ? halves[1].split(separator: "&") : [] {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0], plusIsSpace: true),
                let value = Self.decoded(pair.count == 2 ? pair[1] : "", plusIsSpace: true)
            else { return nil }
            items.append(QueryItem(name: name, value: value))
        }
        query = items
    }

    /// The parameter, if it is there once. A name without a value has the value "".
    package subscript(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// RFC 3986, section 2.1; in queries `+` is a space, as forms write it.
    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
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
