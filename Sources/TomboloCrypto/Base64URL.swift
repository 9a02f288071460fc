/// Base 64 for URLs and JWS (RFC 4648, section 5; RFC 7515, section 2): `-` and `_`, no padding.
package enum Base64URL {
    private static let alphabet = Base64Alphabet(
        sixtyThird: UInt8(ascii: "-"), sixtyFourth: UInt8(ascii: "_"))

    /// Encodes without padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        alphabet.encode(bytes, padded: false)
    }

    /// Decodes the canonical encoding; returns nil for padding, unused bits that are not zero, and
    /// foreign characters.
    package static func decode(_ text: String) -> [UInt8]? {
        alphabet.decode([UInt8](text.utf8)[...])
    }
}
