/// Reads Swift source into tokens and comments, so that rules see neither prose nor the content of
/// strings.
///
/// Knows line comments, nested block comments, names between backticks, strings of one and of
/// several lines, raw strings and regular expressions between `#/` and `/#`. The code within an
/// interpolation is code. Does not know regular expressions between bare slashes; what it cannot
/// follow becomes a fault, never silence.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var at = 0
    private var line = 1
    private var endOfLast = 0
    private(set) var tokens: [SwiftToken] = []
    /// The text of the comments by line, with their slashes.
    private(set) var comments: [Int: String] = [:]
    /// Where the reader lost its way.
    private(set) var faults: [String] = []

    init(_ text: String) {
        bytes = Array(text.utf8)
        readCode(inInterpolation: false)
    }

    private func byte(_ offset: Int = 0) -> UInt8? {
        at + offset < bytes.count ? bytes[at + offset] : nil
    }

    private func isNext(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
        byte() == UInt8(ascii: first) && byte(1) == UInt8(ascii: second)
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private mutating func append(_ kind: SwiftToken.Kind, _ text: String, from start: Int) {
        tokens.append(
            SwiftToken(kind: kind, text: text, line: line, isGlued: start == endOfLast && start > 0)
        )
        endOfLast = at
    }

    /// Reads to the end, or past the parenthesis that closes the interpolation.
    private mutating func readCode(inInterpolation: Bool) {
        var depth = 0
        while let next = byte() {
            if Self.isWord(next) {
                readWord()
            } else if Self.isSpace(next) {
                if next == UInt8(ascii: "\n") { line += 1 }
                at += 1
            } else if !readCommentOrLiteral(next) {
                if next == UInt8(ascii: "(") { depth += 1 }
                if next == UInt8(ascii: ")") { depth -= 1 }
                at += 1
                append(.symbol, String(UnicodeScalar(next)), from: at - 1)
                if inInterpolation, depth == 0 { return }
            }
        }
        if inInterpolation { faults.append("line \(line): an interpolation without its end") }
    }

    /// Whether one began with the byte `next`, and was read.
    private mutating func readCommentOrLiteral(_ next: UInt8) -> Bool {
        switch next {
        case UInt8(ascii: "`"): readQuotedName()
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): readLineComment()
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): readBlockComment()
        case UInt8(ascii: "\""), UInt8(ascii: "#"):
            if let hashes = hashesOfLiteral(opening: UInt8(ascii: "\"")) {
                readString(hashes: hashes)
            } else if hashesOfLiteral(opening: UInt8(ascii: "/")) != nil {
                readRegularExpression()
            } else {
                return false
            }
        default: return false
        }
        return true
    }

    private mutating func readWord() {
        let start = at
        while let next = byte(), Self.isWord(next) { at += 1 }
        append(.word, text(start..<at), from: start)
    }

    /// A name between backticks may be a whole sentence: it counts as one word that no rule knows.
    private mutating func readQuotedName() {
        let start = at
        at += 1
        while let next = byte(), next != UInt8(ascii: "`"), next != UInt8(ascii: "\n") { at += 1 }
        guard byte() == UInt8(ascii: "`") else {
            faults.append("line \(line): a name without its closing backtick")
            return
        }
        at += 1
        append(.word, text(start..<at), from: start)
    }

    private mutating func readLineComment() {
        let start = at
        while let next = byte(), next != UInt8(ascii: "\n") { at += 1 }
        comments[line, default: ""] += text(start..<at)
    }

    private mutating func readBlockComment() {
        var depth = 0
        var start = at
        let first = line
        repeat {
            if isNext("/", "*") {
                depth += 1
                at += 2
            } else if isNext("*", "/") {
                depth -= 1
                at += 2
            } else if byte() == UInt8(ascii: "\n") {
                comments[line, default: ""] += text(start..<at)
                line += 1
                at += 1
                start = at
            } else {
                at += 1
            }
        } while depth > 0 && at < bytes.count
        comments[line, default: ""] += text(start..<min(at, bytes.count))
        if depth > 0 { faults.append("line \(first): a comment without its end") }
    }

    /// How many `#` stand before the delimiter that comes next; nil when none comes.
    private func hashesOfLiteral(opening: UInt8) -> Int? {
        var count = 0
        while byte(count) == UInt8(ascii: "#") { count += 1 }
        return byte(count) == opening ? count : nil
    }

    private mutating func readRegularExpression() {
        let first = line
        let start = at
        at += hashesOfLiteral(opening: UInt8(ascii: "/")) ?? 0
        at += 1
        while at < bytes.count, !isNext("/", "#") {
            if byte() == UInt8(ascii: "\n") { line += 1 }
            at += 1
        }
        if at >= bytes.count { faults.append("line \(first): a pattern without its end") }
        while byte() == UInt8(ascii: "/") || byte() == UInt8(ascii: "#") { at += 1 }
        append(.string, "", from: start)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}

extension SwiftLexer {
    private mutating func readString(hashes: Int) {
        let start = at
        let index = tokens.count
        append(.string, "", from: start)
        at += hashes
        let quotes = opensSeveralLines() ? 3 : 1
        at += quotes
        var content: [UInt8] = []
        let first = line
        while let next = byte() {
            if closes(quotes: quotes, hashes: hashes) {
                at += quotes + hashes
                endOfLast = at
                replace(index, first: first, content: content)
                return
            } else if escapes(hashes: hashes) {
                readEscape(hashes: hashes, content: &content)
            } else if next == UInt8(ascii: "\n"), quotes == 1 {
                break
            } else {
                if next == UInt8(ascii: "\n") { line += 1 }
                content.append(next)
                at += 1
            }
        }
        faults.append("line \(first): a string without its end")
    }

    private mutating func replace(_ index: Int, first: Int, content: [UInt8]) {
        tokens[index] = SwiftToken(
            kind: .string, text: String(decoding: content, as: UTF8.self), line: first,
            isGlued: tokens[index].isGlued)
    }

    /// Three quotes open a string of several lines only as the last of their line: `#"""#` is one
    /// quote.
    private func opensSeveralLines() -> Bool {
        guard (0..<3).allSatisfy({ byte($0) == UInt8(ascii: "\"") }) else { return false }
        var offset = 3
        while let next = byte(offset), next != UInt8(ascii: "\n") {
            guard Self.isSpace(next) else { return false }
            offset += 1
        }
        return true
    }

    private func closes(quotes: Int, hashes: Int) -> Bool {
        byte() == UInt8(ascii: "\"")
            && (1..<quotes).allSatisfy { byte($0) == UInt8(ascii: "\"") }
            && (0..<hashes).allSatisfy { byte(quotes + $0) == UInt8(ascii: "#") }
    }

    private func escapes(hashes: Int) -> Bool {
        byte() == UInt8(ascii: "\\")
            && (0..<hashes).allSatisfy { byte(1 + $0) == UInt8(ascii: "#") }
    }

    private mutating func readEscape(hashes: Int, content: inout [UInt8]) {
        at += 1 + hashes
        if byte() == UInt8(ascii: "(") {
            content += Array("\\()".utf8)
            readCode(inInterpolation: true)
        } else if let next = byte() {
            content += [UInt8(ascii: "\\"), next]
            if next == UInt8(ascii: "\n") { line += 1 }
            at += 1
        }
    }
}
