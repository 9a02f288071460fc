extension JSON {
    /// The shortest JSON text of the same value: it has no white space, and each escape is as short
    /// as possible (only `"`, `\` and characters below U+0020 stay escaped). Members, their order
    /// and the text of numbers do not change. Returns nil if the text is already the shortest.
    ///
    /// - Parameter bytes: one valid JSON value, without comments. They are read once.
    package static func shortest(of bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { text in
            guard JSONShortener.mayBeLong(text), let first = JSONShortener.firstLong(in: text)
            else { return nil }
            let shortest = [UInt8](unsafeUninitializedCapacity: text.count) { output, count in
                var shortener = JSONShortener(text, output, equal: first)
                count = shortener.run()
            }
            // What is spelled otherwise is shorter.
            return shortest.count < text.count ? shortest : nil
        }
    }
}

extension JSONDocument {
    /// The same value as its shortest text, as `JSON.shortest`; nil if it is that already. Where
    /// only white space goes, the text is not scanned a second time.
    package var shortest: JSONDocument? {
        if isShortest { return nil }
        guard let short = JSON.shortest(of: bytes) else { return nil }
        guard let tape = tapeWithoutSpace(), tape.removed == bytes.count - short.count else {
            return JSON(unchecked: short).document
        }
        return JSONDocument(short, tape: tape.entries)
    }

    /// True if the tape shows that the text has no white space outside its strings, and no escapes.
    private var isShortest: Bool {
        guard !comments else { return false }
        var length = 0
        for entry in tape {
            switch entry.kind {
            case .object, .array:
                // Brackets, commas, and the colons of an object.
                let each = entry.kind == .object ? 2 : 1
                length += 2 + max(0, entry.count * each - 1)
            case .string where entry.escapes: return false
            case .string, .number, .true, .false, .null: length += entry.range.count
            }
        }
        return length == bytes.count
    }

    /// The tape of the text without its white space, and how many bytes go; nil if a string has
    /// escapes, which may become shorter.
    private func tapeWithoutSpace() -> (entries: [JSONEntry], removed: Int)? {
        var tape = tape
        let removed = bytes.withUnsafeBufferPointer { text in
            tape.withUnsafeMutableBufferPointer { SpaceRemover(text, $0).run() }
        }
        return removed.map { (tape, $0) }
    }
}

/// Moves the entries of a tape to where their values are without white space.
private struct SpaceRemover {
    private let text: UnsafeBufferPointer<UInt8>
    private let tape: UnsafeMutableBufferPointer<JSONEntry>
    private var position = 0
    private var removed: UInt32 = 0
    /// The objects and arrays that have begun and not ended.
    private var open: [Int] = []

    init(_ text: UnsafeBufferPointer<UInt8>, _ tape: UnsafeMutableBufferPointer<JSONEntry>) {
        (self.text, self.tape) = (text, tape)
    }

    /// Returns how many bytes go; nil if a string has escapes.
    consuming func run() -> Int? {
        // The entry before which the innermost open value ends.
        var endsBefore = Int.max
        for index in tape.indices {
            while endsBefore <= index { endsBefore = close() }
            let entry = tape[index]
            skip(to: Int(entry.start))
            tape[index].start = entry.start - removed
            switch entry.kind {
            case .object, .array:
                open.append(index)
                endsBefore = Int(entry.next)
            case .string where entry.escapes: return nil
            case .string, .number, .true, .false, .null:
                position = Int(entry.end)
                tape[index].end = entry.end - removed
            }
        }
        while !open.isEmpty { _ = close() }
        skip(to: text.count)
        return Int(removed)
    }

    private mutating func close() -> Int {
        let index = open.removeLast()
        skip(to: Int(tape[index].end))
        tape[index].end -= removed
        return open.last.map { Int(tape[$0].next) } ?? .max
    }

    @inline(__always)
    private mutating func skip(to end: Int) {
        while position < end {
            // Between values, nothing else is as small as a space.
            if text[position] <= ASCII.space { removed += 1 }
            position += 1
        }
    }
}

/// Copies a text without its white space, and with the shortest escapes.
private struct JSONShortener {
    private let text: UnsafeBufferPointer<UInt8>
    /// As long as the text. The first `count` bytes are written.
    private let output: UnsafeMutableBufferPointer<UInt8>
    private var position: Int
    private var count: Int
    private var isInString: Bool

    /// False if no byte is white space or begins an escape. Without a branch for each byte, the
    /// processor compares many at once.
    static func mayBeLong(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in text {
            found |= (byte <= ASCII.space ? 1 : 0) | (byte == ASCII.backslash ? 1 : 0)
        }
        return found != 0
    }

    /// The place of the first white space outside strings, or of the first escape that may have a
    /// shorter spelling. Nil if there is none.
    static func firstLong(in text: UnsafeBufferPointer<UInt8>) -> (place: Int, isInString: Bool)? {
        var position = 0
        while position < text.count {
            switch text[position] {
            case ASCII.space, ASCII.tab, ASCII.lineFeed, ASCII.carriageReturn:
                return (position, false)
            case ASCII.quote:
                position += 1
                while text[position] != ASCII.quote {
                    if text[position] == ASCII.backslash {
                        let next = text[position + 1]
                        if next == ASCII.slash || next == UInt8(ascii: "u") {
                            return (position, true)
                        }
                        // The escaped byte may be a quote.
                        position += 1
                    }
                    position += 1
                }
            default: break
            }
            position += 1
        }
        return nil
    }

    /// - Parameter first: the bytes before this place stay as they are.
    init(
        _ text: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>,
        equal first: (place: Int, isInString: Bool)
    ) {
        self.text = text
        self.output = output
        (position, isInString) = first
        count = output[..<position].initialize(fromContentsOf: text[..<position])
    }

    /// Copies the rest. Returns the length of the shortest text.
    @inline(__always)
    mutating func run() -> Int {
        while position < text.count {
            let byte = text[position]
            switch byte {
            case ASCII.backslash:
                copyEscape()
                continue
            case ASCII.space, ASCII.tab, ASCII.lineFeed, ASCII.carriageReturn:
                if isInString { put(byte) }
            default:
                if byte == ASCII.quote { isInString.toggle() }
                put(byte)
            }
            position += 1
        }
        return count
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        output.initializeElement(at: count, to: byte)
        count += 1
    }

    private mutating func copyEscape() {
        let start = position
        let length = JSONText.escapeLength(in: text, at: position)
        position += length
        guard length > 2 else {
            if text[start + 1] != ASCII.slash { put(ASCII.backslash) }
            return put(text[start + 1])
        }
        var place = start + 2
        let scalar = JSONText.scalar(in: text, at: &place)
        switch scalar {
        case "\"", "\\": put(escaped: UInt8(ascii: scalar))
        case "\u{8}": put(escaped: UInt8(ascii: "b"))
        case "\u{c}": put(escaped: UInt8(ascii: "f"))
        case "\n": put(escaped: UInt8(ascii: "n"))
        case "\r": put(escaped: UInt8(ascii: "r"))
        case "\t": put(escaped: UInt8(ascii: "t"))
        case "\u{0}"..."\u{1f}": for byte in text[start..<position] { put(byte) }
        default: for byte in Unicode.UTF8.encode(scalar).unsafelyUnwrapped { put(byte) }
        }
    }

    private mutating func put(escaped byte: UInt8) {
        put(ASCII.backslash)
        put(byte)
    }
}
