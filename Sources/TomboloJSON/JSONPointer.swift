/// A JSON Pointer (RFC 6901): the path from a value to a value inside it.
///
/// Only the string form is supported, not the URI fragment form (section 6).
package struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// Names and indices from the outside in, unescaped. Empty for the whole value.
    package let tokens: [String]

    /// Makes a pointer from unescaped tokens.
    package init(tokens: [String]) { self.tokens = tokens }

    /// Parses a text such as `/a~1b/0`. The empty text is the whole value. Returns nil if the text
    /// does not begin with `/`, or if a `~` is not followed by `0` or `1` (section 3).
    package init?(_ text: String) {
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == ASCII.slash else { return nil }
        var tokens: [String] = []
        for part in text.utf8.dropFirst().split(
            separator: ASCII.slash, omittingEmptySubsequences: false)
        {
            guard let token = Self.unescape(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    private static func unescape(_ part: Substring.UTF8View) -> String? {
        guard part.contains(UInt8(ascii: "~")) else { return String(Substring(part)) }
        var bytes: [UInt8] = []
        var iterator = part.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch iterator.next() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(ASCII.slash)
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text by RFC 6901 section 3: `~` is written as `~0`, and `/` as `~1`.
    package var description: String {
        var text = ""
        for token in tokens {
            text += "/"
            for scalar in token.unicodeScalars {
                switch scalar {
                case "~": text += "~0"
                case "/": text += "~1"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        return text
    }

    /// The pointer to the member or element `token` of the value here.
    package func appending(_ token: String) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }

    /// The pointer to an element of the array here.
    package func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

    /// The array index that a token means (section 4); nil if it is not digits without leading
    /// zeros.
    static func arrayIndex(_ token: String) -> Int? {
        guard token.utf8.allSatisfy(ASCII.isDigit), token == "0" || token.utf8.first != ASCII.zero
        else { return nil }
        return Int(token)
    }
}
