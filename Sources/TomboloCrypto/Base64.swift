/// Base 64 with padding (RFC 4648, section 4), as used in JSON and PEM.
package enum Base64 {
    private static let alphabet = Base64Alphabet(
        sixtyThird: UInt8(ascii: "+"), sixtyFourth: UInt8(ascii: "/"))

    /// Encodes with padding to a multiple of four characters, without line breaks.
    package static func encode(_ bytes: [UInt8]) -> String {
        alphabet.encode(bytes, padded: true)
    }

    /// Decodes the canonical encoding; returns nil for any other text. It is strict (RFC 4648,
    /// section 3.5): padding is required, unused bits must be zero, and line breaks and other
    /// characters are refused. So two different texts never decode to the same bytes.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = [UInt8](text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return alphabet.decode(characters.dropLast(padding))
    }
}
