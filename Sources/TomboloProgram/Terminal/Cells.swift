/// The number of columns that text takes on a terminal: most characters take one, East Asian ones
/// and emoji two.
enum Cells {
    static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + width($1) } }

    /// The longest prefix that fits into `columns`.
    static func prefix(_ text: some StringProtocol, _ columns: Int) -> String {
        var (left, result) = (columns, "")
        for character in text {
            left -= width(character)
            guard left >= 0 else { break }
            result.append(character)
        }
        return result
    }

    private static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        let isEmoji = scalars.contains { $0.properties.isEmojiPresentation || $0.value == 0xfe0f }
        return isEmoji || scalars.first.map(isWide) == true ? 2 : 1
    }

    /// True for wide characters by Unicode's annex 11 (East Asian Width), in whole blocks.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
            0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x2_0000...0x3_fffd:
            true
        default: false
        }
    }
}
