/// The link with which a tap opens the app: a card by its name, or a link of the app's own.
///
/// A card without a link of its own uses `SCHEME://activity/NAME`: give it that as `widgetURL`.
public enum AppLink: Hashable, Sendable {
    /// A card, by the name that its attribute `activity_id` has.
    case activity(String)
    /// Another link, such as the `url` of a widget's entry, unchanged.
    case other(String)

    /// Reads a link. Every text is a link of some kind, because the app may have others.
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

    /// The link of a card.
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
            isUnreserved(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes `%XX`. Returns nil if a `%` has no two digits, or the result is not UTF-8.
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
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
