extension JSONScanner {
    /// Adds an entry to the tape for a value without content, from `start` to the current position.
    @inline(__always)
    mutating func append(_ kind: JSONEntry.Kind, from start: Int, escapes: Bool = false) {
        tape.write(
            JSONEntry(kind, start: start, end: position, next: tape.count + 1, escapes: escapes))
    }

    /// Scans a number (RFC 8259 section 6). Its size is checked only if `numbersFit`. Its precision
    /// matters only when a view reads it.
    @inline(__always)
    mutating func scanNumber() throws(JSONError) {
        let start = position
        if peek == ASCII.minus { position += 1 }
        if peek == ASCII.zero {
            position += 1
            if ASCII.isDigit(peek) { throw leadingZero(start) }
        } else {
            try scanDigits()
        }
        if peek == ASCII.dot {
            position += 1
            try scanDigits()
        }
        var isShort = position - start <= JSONDecimal.plainBytesMax
        if peek | 0x20 == UInt8(ascii: "e") {
            position += 1
            if peek == ASCII.plus || peek == ASCII.minus { position += 1 }
            let digits = position
            try scanDigits()
            // Two digits move the point by at most 99 places.
            isShort = position - digits <= 2 && position - start <= JSONDecimal.shortBytesMax
        }
        if numbersFit, !isShort, !JSONDecimal.fitsDouble(text[start..<position]) {
            throw unfitNumber(start)
        }
        append(.number, from: start)
    }

    /// Skips at least one digit.
    @inline(__always)
    private mutating func scanDigits() throws(JSONError) {
        guard ASCII.isDigit(peek) else { throw missingDigit() }
        repeat { position += 1 } while ASCII.isDigit(peek)
    }

    /// Scans `true`, `false` or `null`. Throws for other words.
    @inline(__always)
    mutating func scanLiteral() throws(JSONError) {
        switch peek {
        case UInt8(ascii: "t"): try scanLiteral("true", .true)
        case UInt8(ascii: "f"): try scanLiteral("false", .false)
        case UInt8(ascii: "n"): try scanLiteral("null", .null)
        default: throw unexpected(.value)
        }
    }

    @inline(__always)
    private mutating func scanLiteral(
        _ word: StaticString, _ kind: JSONEntry.Kind
    ) throws(JSONError) {
        let length = word.utf8CodeUnitCount
        for index in 0..<length {
            guard position + index < text.count,
                text[position + index] == word.utf8Start[index]
            else {
                position += index
                throw unexpected(.literal(word))
            }
        }
        position += length
        append(kind, from: position - length)
    }
}
