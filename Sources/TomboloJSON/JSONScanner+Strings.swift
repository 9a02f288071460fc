extension JSONScanner {
    /// Scans a string (RFC 8259 section 7) with its quotes, and adds its entry to the tape.
    @inline(__always)
    mutating func scanString() throws(JSONError) {
        let start = position
        var escapes = false
        position += 1
        while true {
            position = JSONText.plainEnd(of: text, from: position)
            guard position < text.count else { throw unclosedString(start) }
            let byte = text[position]
            if byte == ASCII.quote { break }
            if byte == ASCII.backslash {
                escapes = true
                try scanEscape()
            } else if byte < ASCII.space {
                throw controlCharacter()
            } else if byte < 0x80 {
                position += 1
            } else {
                try scanMultibyteCharacter()
            }
        }
        position += 1
        append(.string, from: start, escapes: escapes)
    }

    /// Skips a backslash and its escape.
    private mutating func scanEscape() throws(JSONError) {
        let start = position
        position += 1
        switch peek {
        case ASCII.quote, ASCII.backslash, ASCII.slash,
            UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let unit = try scanCodeUnit(start)
            if UTF16.isTrailSurrogate(unit) { throw loneSurrogate(start) }
            guard UTF16.isLeadSurrogate(unit) else { return }
            let second = position
            guard peek == ASCII.backslash else { throw loneSurrogate(start) }
            position += 1
            guard peek == UInt8(ascii: "u") else { throw loneSurrogate(start) }
            guard UTF16.isTrailSurrogate(try scanCodeUnit(second)) else {
                throw loneSurrogate(start)
            }
        default:
            throw invalidEscape(start)
        }
    }

    /// Skips `uXXXX`. Returns its code unit.
    private mutating func scanCodeUnit(_ start: Int) throws(JSONError) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = ASCII.hexadecimal(peek) else { throw invalidEscape(start) }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    /// Skips one character of two to four bytes (RFC 3629 section 4: no overlong form, no
    /// surrogate, nothing above U+10FFFF).
    mutating func scanMultibyteCharacter() throws(JSONError) {
        let start = position
        let first = text[start]
        position += 1
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: throw invalidUTF8(start)
        }
        guard second.contains(peek) else { throw invalidUTF8(start) }
        position += 1
        for _ in 2..<length {
            guard peek & 0xC0 == 0x80 else { throw invalidUTF8(start) }
            position += 1
        }
    }

    /// Skips a comment at the current position: to the end of the line, or to `*/`.
    mutating func skipComment() throws(JSONError) {
        let start = position
        position += 1
        let block = peek == ASCII.asterisk
        guard block || peek == ASCII.slash else { throw unexpected(.comment) }
        position += 1
        while position < text.count {
            let byte = text[position]
            if byte >= 0x80 {
                try scanMultibyteCharacter()
                continue
            }
            position += 1
            if !block, byte == ASCII.lineFeed { return }
            if block, byte == ASCII.asterisk, peek == ASCII.slash {
                position += 1
                return
            }
        }
        if block { throw unclosedComment(start) }
    }
}
