/// Error messages, each with a remedy. They are outside the fast path.
extension JSONScanner {
    /// What the grammar expects at a place where something else was found.
    enum Expectation {
        case value, name, colon, commaOrBrace, commaOrBracket, comment, literal(StaticString)

        var words: String {
            switch self {
            case .value: "a value"
            case .name: "a member's name in double quotes"
            case .colon: "\":\" after the member's name"
            case .commaOrBrace: "\",\" or \"}\" after the member"
            case .commaOrBracket: "\",\" or \"]\" after the element"
            case .comment: "\"//\" or \"/*\""
            case .literal(let word): "\"\(word)\""
            }
        }
    }

    @inline(never)
    func unfitNumber(_ start: Int) -> JSONError {
        error(
            .invalidNumber, at: start,
            "no decoder takes this number: its size must be 0, or from 4.9e-324 to 1.8e308; send "
                + "it as a string, or round it")
    }

    @inline(never)
    func unexpected(_ expectation: Expectation) -> JSONError {
        guard position < text.count else {
            return error(
                .unexpectedEnd, at: position,
                "the text ends where \(expectation.words) should follow: it may be cut off")
        }
        let hint = hint(expectation).map { ": " + $0 } ?? ""
        return error(
            .unexpectedByte, at: position,
            "expected \(expectation.words), found \(found(position))\(hint)")
    }

    /// A hint if the fault is a common mistake; else nil.
    private func hint(_ expectation: Expectation) -> String? {
        switch (text[position], expectation) {
        case (UInt8(ascii: "'"), _): "strings stand in double quotes"
        case (ASCII.slash, .comment): nil
        case (ASCII.slash, _): "comments are not allowed here"
        case (ASCII.closeBrace, .name), (ASCII.closeBracket, .value):
            "remove the comma before it"
        case (ASCII.plus, .value): "write the number without \"+\""
        case (ASCII.dot, .value): "write a digit before the \".\""
        case (UInt8(ascii: "N"), .value), (UInt8(ascii: "I"), .value):
            "JSON has no NaN and no Infinity, and writes null in small letters"
        case (UInt8(ascii: "T"), .value), (UInt8(ascii: "F"), .value):
            "true and false are written in small letters"
        case (0xEF, .value) where position == 0:
            "save the text as UTF-8 without a byte order mark"
        case (0xFE...0xFF, .value) where position == 0: "the text is UTF-16: save it as UTF-8"
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), .value)
        where position == 0 && text.contains(UInt8(ascii: "=")):
            "a form is no JSON: write {\"name\":\"value\"}"
        default: nil
        }
    }

    /// The character at an offset, as text that cannot harm a terminal.
    private func found(_ offset: Int) -> String {
        let end = min(offset + 4, text.count)
        var decoder = UTF8()
        var bytes = text[offset..<end].makeIterator()
        if case .scalarValue(let scalar) = decoder.decode(&bytes),
            scalar.value > 0x20, scalar.value != 0x7F, !(0x80..<0xA0).contains(scalar.value)
        {
            return "\"\(scalar)\""
        }
        if text[offset] == ASCII.space { return "a space" }
        return "byte 0x" + (text[offset] < 16 ? "0" : "") + String(text[offset], radix: 16)
    }

    @inline(never)
    func trailingBytes() -> JSONError {
        error(
            .trailingBytes, at: position,
            "found \(found(position)) after the end of the value: one text is one value")
    }

    @inline(never)
    func tooDeep() -> JSONError {
        error(
            .tooDeep, at: position,
            "more than \(depthMax) objects and arrays inside one another: flatten the value")
    }

    @inline(never)
    func leadingZero(_ start: Int) -> JSONError {
        error(.invalidNumber, at: start, "a number has no zeros before it: remove them")
    }

    @inline(never)
    func missingDigit() -> JSONError {
        let found = position < text.count ? found(position) : "the end of the text"
        return error(.invalidNumber, at: position, "expected a digit of a number, found \(found)")
    }

    @inline(never)
    func unclosedString(_ start: Int) -> JSONError {
        error(
            .unexpectedEnd, at: text.count,
            "the string that begins at byte \(start) has no closing quote: the text may be cut off")
    }

    @inline(never)
    func unclosedComment(_ start: Int) -> JSONError {
        error(
            .unexpectedEnd, at: text.count,
            "the comment that begins at byte \(start) has no \"*/\"")
    }

    @inline(never)
    func controlCharacter() -> JSONError {
        let escape =
            switch text[position] {
            case ASCII.lineFeed: "\\n"
            case ASCII.carriageReturn: "\\r"
            case ASCII.tab: "\\t"
            case let byte: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        return error(
            .controlCharacter, at: position,
            "\(found(position)) in a string: write it as \(escape), or close the string")
    }

    @inline(never)
    func invalidEscape(_ start: Int) -> JSONError {
        guard position < text.count else { return unclosedString(start) }
        return error(
            .invalidEscape, at: start,
            "found \(found(position)) in an escape: allowed are \\\" \\\\ \\/ \\b \\f \\n \\r \\t "
                + "and \\u with four hexadecimal digits")
    }

    @inline(never)
    func loneSurrogate(_ start: Int) -> JSONError {
        error(
            .loneSurrogate, at: start,
            "half a surrogate pair: write both halves, or the character itself in UTF-8")
    }

    @inline(never)
    func invalidUTF8(_ start: Int) -> JSONError {
        error(
            .invalidUTF8, at: start,
            "found \(found(start)), which is not UTF-8: encode the text as UTF-8")
    }

    @inline(never)
    func duplicateKey(_ name: JSONEntry) -> JSONError {
        var bytes: [UInt8] = []
        JSONText.unescape(UnsafeBufferPointer(rebasing: text[name.content]), into: &bytes)
        // A name may be megabytes long; its beginning is enough to find it in the text.
        let all = String(decoding: bytes, as: UTF8.self)
        let head = String(all.unicodeScalars.prefix(64))
        let short = head.utf8.count < all.utf8.count ? head + "…" : all
        return error(
            .duplicateKey, at: Int(name.start),
            "the object already has a member \"\(short)\": remove one of the two")
    }

    private func error(_ code: JSONError.Code, at offset: Int, _ message: String) -> JSONError {
        JSONError(code, at: offset, in: text, message)
    }
}
