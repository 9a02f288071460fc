/// Makes text safe for a terminal, because strangers may have written parts of it.
enum Printable {
    /// The line without characters that move the cursor, colour the terminal, or change the writing
    /// direction.
    static func line(_ line: String) -> String { cleaned(line, keepsLines: false) }

    /// Like `line`, but keeps line breaks.
    static func lines(_ text: String) -> String { cleaned(text, keepsLines: true) }

    /// JSON in which escapes are replaced by their characters: `\u81ea` becomes 自. Escapes of
    /// quotes, of backslashes, and of characters that `line` would remove are kept.
    static func json(_ raw: some Collection<UInt8>) -> String {
        var (rest, bytes) = (raw[...], [UInt8]())
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            if let (scalar, length) = escaped(rest), isShown(scalar) {
                bytes += String(scalar).utf8
                rest = rest.dropFirst(length)
            } else {
                bytes.append(byte)
                rest.popFirst().map { bytes.append($0) }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The character of an escape `uXXXX` or of a surrogate pair, and the number of its bytes.
    private static func escaped(_ rest: some Collection<UInt8>) -> (Unicode.Scalar, Int)? {
        let text = Array(rest.prefix(11))
        func unit(_ start: Int) -> UInt16? {
            guard text.count >= start + 5, text[start] == UInt8(ascii: "u") else { return nil }
            return UInt16(
                String(decoding: text[(start + 1)..<(start + 5)], as: UTF8.self), radix: 16)
        }
        guard let first = unit(0) else { return nil }
        guard UTF16.isLeadSurrogate(first), let second = unit(6) else {
            return Unicode.Scalar(first).map { ($0, 5) }
        }
        var units = [first, second].makeIterator()
        var decoder = UTF16()
        guard case .scalarValue(let scalar) = decoder.decode(&units) else { return nil }
        return (scalar, 11)
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\"" && scalar != "\\" && (scalar == joiner || !isLive(scalar))
    }

    /// Zero-width joiner: joins two emoji to one picture.
    private static let joiner: Unicode.Scalar = "\u{200D}"

    private static func isEmoji(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, scalar.value > 0x7f else { return false }
        return scalar.properties.isEmoji || scalar.value == 0xfe0f
    }

    private static func isLive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func cleaned(_ text: String, keepsLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let stays =
                !isLive(scalar) || keepsLines && scalar == "\n"
                || scalar == joiner && isEmoji(result.last) && isEmoji(rest.first)
            result.append(stays ? scalar : "?")
        }
        return String(result)
    }
}
