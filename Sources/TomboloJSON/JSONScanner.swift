/// One pass over a text: holds it against RFC 8259 and writes the tape.
///
/// Lives only inside the closure that lends it the bytes. Every read is behind a comparison with
/// `text.count` (`peek`, or a loop's own): the buffer itself does not check in release builds. It
/// does not recurse, so no depth can exhaust the stack.
struct JSONScanner {
    let text: UnsafeBufferPointer<UInt8>
    let depthMax: Int
    let numbersFit: Bool
    let comments: Bool
    var tape: [JSONEntry] = []
    var position = 0

    /// Index of the innermost open container; has no meaning while `depth` is 0.
    private var open = 0
    /// Whether that is an object, and how much of its content is not in its entry's count yet: a
    /// look at the tape for each value costs as much as the value.
    private var isObject = false
    private var uncounted = 0
    private var depth = 0

    init(
        _ text: UnsafeBufferPointer<UInt8>, depthMax: Int, numbersFit: Bool, comments: Bool
    ) {
        self.text = text
        self.depthMax = depthMax
        self.numbersFit = numbersFit
        self.comments = comments
        // One value for eight bytes is usual in events; denser texts grow the tape.
        tape.reserveCapacity(text.count / 8 + 8)
    }

    /// The byte at the position; 0, which stands for nothing in JSON, at the end.
    var peek: UInt8 {
        @inline(__always) get { position < text.count ? text[position] : 0 }
    }

    /// Scans the whole text. Once only.
    mutating func scan() throws(JSONError) {
        repeat {
            // A value, then what ends it: a comma leads to the next value, a bracket ends another
            // one.
            while try !scanValue() {}
        } while try scanAfterValue()
        guard position == text.count else { throw trailingBytes() }
    }

    /// Scans a scalar, an empty container, or a container's head up to its first value.
    ///
    /// - Returns: whether a value is complete. If not, its first value comes next.
    @inline(__always)
    private mutating func scanValue() throws(JSONError) -> Bool {
        try skipSpace()
        switch peek {
        case ASCII.quote:
            try scanString()
        case ASCII.openBrace:
            try begin(.object)
            if peek == ASCII.closeBrace {
                try end()
            } else {
                try scanName()
                return false
            }
        case ASCII.openBracket:
            try begin(.array)
            if peek == ASCII.closeBracket {
                try end()
            } else {
                uncounted += 1
                return false
            }
        case ASCII.minus, ASCII.zero...ASCII.nine:
            try scanNumber()
        default:
            try scanLiteral()
        }
        return true
    }

    /// Scans commas and closing brackets up to where a value must follow.
    ///
    /// - Returns: whether one must; false at the end of the text's one value.
    @inline(__always)
    private mutating func scanAfterValue() throws(JSONError) -> Bool {
        while true {
            try skipSpace()
            guard depth > 0 else { return false }
            let byte = peek
            if byte == ASCII.comma {
                position += 1
                if isObject {
                    try skipSpace()
                    try scanName()
                } else {
                    uncounted += 1
                }
                return true
            }
            guard byte == (isObject ? ASCII.closeBrace : ASCII.closeBracket) else {
                throw unexpected(isObject ? .commaOrBrace : .commaOrBracket)
            }
            try end()
        }
    }

    /// Opens a container at its bracket and goes on to the first byte of its content.
    @inline(__always)
    private mutating func begin(_ kind: JSONEntry.Kind) throws(JSONError) {
        guard depth < depthMax else { throw tooDeep() }
        if depth > 0 { countContent() }
        depth += 1
        tape.append(JSONEntry(kind, start: position, next: open))
        open = tape.count - 1
        isObject = kind == .object
        position += 1
        try skipSpace()
    }

    /// Closes the innermost container at its bracket and goes past it.
    @inline(__always)
    private mutating func end() throws(JSONError) {
        position += 1
        countContent()
        let parent = Int(tape[open].next)
        tape[open].next = UInt32(truncatingIfNeeded: tape.count)
        tape[open].end = UInt32(truncatingIfNeeded: position)
        if isObject { try checkNames(of: open) }
        open = parent
        isObject = tape[open].kind == .object
        depth -= 1
    }

    @inline(__always)
    private mutating func countContent() {
        tape[open].count(uncounted)
        uncounted = 0
    }

    /// Scans `"name" :` and counts a member.
    @inline(__always)
    private mutating func scanName() throws(JSONError) {
        guard peek == ASCII.quote else { throw unexpected(.name) }
        try scanString()
        uncounted += 1
        if tape[tape.count - 1].escapes { tape[open].noteEscapes() }
        try skipSpace()
        guard peek == ASCII.colon else { throw unexpected(.colon) }
        position += 1
    }

    /// Goes past space; where comments are allowed, past them too.
    @inline(__always)
    mutating func skipSpace() throws(JSONError) {
        while position < text.count {
            switch text[position] {
            case ASCII.space, ASCII.lineFeed, ASCII.carriageReturn, ASCII.tab: position += 1
            case ASCII.slash where comments: try skipComment()
            default: return
            }
        }
    }
}
