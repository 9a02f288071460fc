extension JSON {
    /// The shortest JSON text of the same value: it has no white space, and each escape is as short
    /// as possible (only `"`, `\` and characters below U+0020 stay escaped). Members, their order
    /// and the text of numbers do not change. Returns nil if the text is already the shortest.
    ///
    /// - Parameter bytes: one valid JSON value, without comments. They are read once.
    package static func shortest(of bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { text in
            var shortener = JSONShortener(text)
            return shortener.run()
        }
    }
}

/// Copies a text without its white space, and with the shortest escapes.
private struct JSONShortener {
    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// The shortened text for the bytes before `copied`.
    private var output: [UInt8] = []
    private var copied = 0

    init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    mutating func run() -> [UInt8]? {
        while position < text.count {
            switch text[position] {
            case ASCII.space, ASCII.tab, ASCII.lineFeed, ASCII.carriageReturn:
                let start = position
                repeat { position += 1 } while position < text.count && isSpace(text[position])
                replace(from: start, with: [])
            case ASCII.quote: passString()
            default: position += 1
            }
        }
        guard copied > 0 else { return nil }
        output += text[copied...]
        return output
    }

    private func isSpace(_ byte: UInt8) -> Bool {
        byte == ASCII.space || byte == ASCII.lineFeed || byte == ASCII.carriageReturn
            || byte == ASCII.tab
    }

    /// Writes `spelling` for the bytes from `start` to the current position.
    private mutating func replace(from start: Int, with spelling: [UInt8]) {
        output += text[copied..<start]
        output += spelling
        copied = position
    }

    private mutating func passString() {
        position += 1
        while text[position] != ASCII.quote {
            guard text[position] == ASCII.backslash else {
                position += 1
                continue
            }
            let start = position
            let length = JSONText.escapeLength(in: text, at: position)
            position += length
            if length == 2 {
                if text[start + 1] == ASCII.slash { replace(from: start, with: [ASCII.slash]) }
            } else {
                shorten(from: start)
            }
        }
        position += 1
    }

    /// A `\uXXXX`, or a pair of them, from `start` to the position.
    private mutating func shorten(from start: Int) {
        var place = start + 2
        let scalar = JSONText.scalar(in: text, at: &place)
        switch scalar {
        case "\"", "\\": replace(from: start, with: [ASCII.backslash, UInt8(ascii: scalar)])
        case "\u{8}": replace(from: start, with: Array("\\b".utf8))
        case "\u{c}": replace(from: start, with: Array("\\f".utf8))
        case "\n": replace(from: start, with: Array("\\n".utf8))
        case "\r": replace(from: start, with: Array("\\r".utf8))
        case "\t": replace(from: start, with: Array("\\t".utf8))
        case "\u{0}"..."\u{1f}": break
        default:
            output += text[copied..<start]
            output += Unicode.UTF8.encode(scalar).unsafelyUnwrapped
            copied = position
        }
    }
}
