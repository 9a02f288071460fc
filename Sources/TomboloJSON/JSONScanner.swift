/// The entries that a scanner has written, in memory that it was given. An array would ask at each
/// write whether the memory is its own.
struct JSONTape {
    private let entries: UnsafeMutableBufferPointer<JSONEntry>
    private(set) var count = 0

    init(_ entries: UnsafeMutableBufferPointer<JSONEntry>) { self.entries = entries }

    /// At least as many entries as a text has: each value or name after the first has a comma, a
    /// colon or an opening bracket of its own before it.
    static func capacity(for text: UnsafeBufferPointer<UInt8>) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let raw = UnsafeRawBufferPointer(text)
        var (count, place) = (1, 0)
        while place &+ 8 <= text.count {
            let word = raw.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let comma = word ^ (ones &* UInt64(ASCII.comma))
            let colon = word ^ (ones &* UInt64(ASCII.colon))
            // The two opening brackets differ in one bit.
            let bracket = (word | ones &* 0x20) ^ (ones &* UInt64(ASCII.openBrace))
            // The top bit of each byte that is one of them. A borrow may mark other bytes too.
            let found =
                ((comma &- ones) & ~comma | (colon &- ones) & ~colon | (bracket &- ones) & ~bracket)
                & (ones &* 0x80)
            count &+= Int(truncatingIfNeeded: ((found &>> 7) &* ones) &>> 56)
            place &+= 8
        }
        return count &+ text.count &- place
    }

    @inline(__always)
    mutating func write(_ entry: JSONEntry) {
        precondition(count < entries.count, "a text has more values than bytes for them")
        entries.initializeElement(at: count, to: entry)
        count += 1
    }

    subscript(index: Int) -> JSONEntry {
        @inline(__always) get { entries[index] }
        @inline(__always) nonmutating _modify { yield &entries[index] }
    }
}

/// Scans a text once: checks it against RFC 8259 and writes the tape.
///
/// Use it only inside the closure that provides the bytes. Each read first compares with
/// `text.count` (in `peek` or in a loop), because the buffer does not check this in release builds.
/// It does not call itself, so a deep text cannot exhaust the stack.
struct JSONScanner {
    let text: UnsafeBufferPointer<UInt8>
    let depthMax: Int
    let numbersFit: Bool
    let comments: Bool
    var tape: JSONTape
    var position = 0
    /// Names of the object that is compared now.
    var names = JSONNames()

    /// Index of the innermost object or array that is not closed. Without meaning while `depth` is
    /// 0.
    private var open = 0
    /// `isObject`: true if this is an object. `uncounted`: number of its members or elements that
    /// are not counted in its entry yet, because a write to the tape for each value is expensive.
    private var isObject = false
    private var uncounted = 0
    private var depth = 0

    /// - Parameter entries: memory for as many entries as `JSONTape.capacity(for:)` says.
    init(
        _ text: UnsafeBufferPointer<UInt8>, _ entries: UnsafeMutableBufferPointer<JSONEntry>,
        depthMax: Int, numbersFit: Bool, comments: Bool
    ) {
        self.text = text
        self.depthMax = depthMax
        self.numbersFit = numbersFit
        self.comments = comments
        tape = JSONTape(entries)
    }

    /// The byte at the current position; at the end 0, which has no meaning in JSON.
    var peek: UInt8 {
        @inline(__always) get { position < text.count ? text[position] : 0 }
    }

    /// Scans the whole text. Call it only once.
    mutating func scan() throws(JSONError) {
        repeat {
            // Scan a value, then what follows: a comma leads to the next value, a bracket closes an
            // object or array.
            while try !scanValue() {}
        } while try scanAfterValue()
        guard position == text.count else { throw trailingBytes() }
    }

    /// Scans a scalar or an empty object or array; of any other, what comes before its first value.
    ///
    /// - Returns: true if a value is complete; false if an inner value must follow.
    @inline(__always)
    private mutating func scanValue() throws(JSONError) -> Bool {
        try skipSpace()
        switch peek {
        case ASCII.quote:
            try scanString()
        case ASCII.openBrace:
            guard try begin(.object, ASCII.closeBrace) else { return true }
            try scanName()
            return false
        case ASCII.openBracket:
            guard try begin(.array, ASCII.closeBracket) else { return true }
            uncounted += 1
            return false
        case ASCII.minus, ASCII.zero...ASCII.nine:
            try scanNumber()
        default:
            try scanLiteral()
        }
        return true
    }

    /// Scans commas and closing brackets up to the place where a value must follow.
    ///
    /// - Returns: true if a value must follow; false if the text's one value is complete.
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

    /// Opens an object or array at its bracket, and goes to the first byte of its content. An empty
    /// one is complete at once: then it goes behind the closing bracket and returns false.
    @inline(__always)
    private mutating func begin(_ kind: JSONEntry.Kind, _ close: UInt8) throws(JSONError) -> Bool {
        guard depth < depthMax else { throw tooDeep() }
        let start = position
        position += 1
        try skipSpace()
        if peek == close {
            position += 1
            append(kind, from: start)
            return false
        }
        if depth > 0 { countContent() }
        depth += 1
        tape.write(JSONEntry(kind, start: start, next: open))
        open = tape.count - 1
        isObject = kind == .object
        return true
    }

    /// Closes the innermost object or array at its bracket, and goes behind the bracket.
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

    /// Scans `"name" :` and counts the member.
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

    /// Skips white space, and comments if these are allowed.
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
