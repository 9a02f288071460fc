/// Scans a text in one pass: checks it against RFC 8259 and writes the tape.
///
/// Valid only inside the closure that provides the bytes. Every read is guarded by a comparison
/// with `text.count` (in `peek` or a loop), because the buffer does not check in release builds. It
/// does not recurse, so no depth can exhaust the stack.
struct JSONScanner {
    let text: UnsafeBufferPointer<UInt8>
    let depthMax: Int
    let numbersFit: Bool
    let comments: Bool
    var tape: [JSONEntry] = []
    var position = 0

    /// Index of the innermost open container; meaningless while `depth` is 0.
    private var open = 0
    /// True if that container is an object. `uncounted` is its content that is not in its entry's
    /// count yet: accessing the tape for each value would cost as much as the value.
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
        // Events usually have one value per eight bytes; for denser texts the tape grows.
        tape.reserveCapacity(text.count / 8 + 8)
    }

    /// The byte at the current position; at the end 0, which has no meaning in JSON.
    var peek: UInt8 {
        @inline(__always) get { position < text.count ? text[position] : 0 }
    }

    /// Scans the whole text. Call it only once.
    mutating func scan() throws(JSONError) {
        repeat {
            // Scan a value and its end: a comma leads to the next one, a bracket closes a
            // container.
            while try !scanValue() {}
        } while try scanAfterValue()
        guard position == text.count else { throw trailingBytes() }
    }

    /// Scans a scalar, an empty container, or a container's head up to its first value.
    ///
    /// - Returns: true if a value is complete; false if its first inner value comes next.
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
    /// - Returns: true if a value must follow; false at the end of the text's one value.
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

    /// Opens a container at its bracket and advances to the first byte of its content.
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

    /// Closes the innermost container at its bracket and advances past it.
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

    /// Skips white space, and comments if they are allowed.
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
