/// Base 64 with padding (RFC 4648, section 4): what JSON and PEM carry.
package enum Base64 {
    private static let alphabet = Base64Alphabet(
        sixtyThird: UInt8(ascii: "+"), sixtyFourth: UInt8(ascii: "/"))

    /// Padded to a multiple of four characters, without line breaks.
    package static func encode(_ bytes: [UInt8]) -> String {
        alphabet.encode(bytes, padded: true)
    }

    /// The bytes, or nil for anything but the one encoding of them.
    ///
    /// Strict (RFC 4648, section 3.5): padding must be there, unused bits must be zero, line breaks
    /// and other characters are refused, so that two different texts never mean the same bytes.
    package static func decode(_ text: String) -> [UInt8]? {
        let characters = [UInt8](text.utf8)
        guard characters.count.isMultiple(of: 4) else { return nil }
        let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return alphabet.decode(characters.dropLast(padding))
    }
}
