import TomboloJSON

/// The link with which a tap opens the app. It names a card, or is another link of the app.
///
/// For a card without another link, set `SCHEME://activity/NAME` as `widgetURL`.
public enum AppLink: Hashable, Sendable {
    /// A card, by the name in its attribute `activity_id`.
    case activity(String)
    /// Another link, unchanged, such as the `url` of a widget's entry.
    case other(String)

    /// Reads a link. A text that does not name a card becomes `.other`.
    public init(_ text: String) {
        let prefix = "://activity/"
        guard let found = text.firstRange(of: prefix), !text[..<found.lowerBound].contains("/")
        else {
            self = .other(text)
            return
        }
        let end = text[found.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let name = PathSegment.decoded(text[found.upperBound..<end])
        self = name.flatMap { $0.isEmpty ? nil : .activity($0) } ?? .other(text)
    }

    /// The link that opens a card.
    public static func text(scheme: String, activity: String) -> String {
        scheme + "://activity/" + PathSegment.encoded(activity)
    }
}

/// One segment of a URL's path.
public enum PathSegment {
    /// Encodes everything but unreserved characters as `%XX` (RFC 3986, section 2.3).
    public static func encoded(_ segment: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let text = segment.utf8.flatMap { byte in
            byte.isUnreserved
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A file's name for a text of any length: FNV-1a, 64 bits in hex.
    public static func fileName(_ text: String) -> String {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return String(hash, radix: 16)
    }

    /// Decodes `%XX`. Returns nil if two digits do not follow a `%`, or if the result is not UTF-8.
    static func decoded(_ segment: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = segment.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), digits.utf8.count == 2,
                let value = UInt8(digits, radix: 16), !digits.hasPrefix("+")
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        // `String(validating:as:)` is newer than iOS 16. A repair would change the bytes.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }
}
