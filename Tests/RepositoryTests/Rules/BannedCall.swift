/// Something that this house does not write, where, and why.
struct BannedCall {
    enum Scope { case sources, sourcesAndTests, pureRooms }

    /// Code in words and symbols, such as `Task {`. Spaces do not count, save that symbols which
    /// touch here must touch there: `try!` is not `try !isOpen`.
    let patterns: [String]
    let scope: Scope
    /// Paths, or folders with their slash at the end.
    var allowed: [String] = []
    /// The pattern is something else after one of these: `.sleep(for:)` of the loop, or a
    /// declaration.
    var unlessAfter: [String] = []
    /// The call is harmless when one of these words stands between its parentheses.
    var unlessArguments: [String] = []
    let reason: String

    func violations(in file: SwiftFile) -> [Violation] {
        guard applies(to: file), !isAllowed(file.path) else { return [] }
        return hits(in: file).map { pattern, line in
            Violation(path: file.path, line: line, message: "`\(pattern)`: \(reason)")
        }
    }

    func isAllowed(_ path: String) -> Bool {
        allowed.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }
    }

    /// Where the patterns stand, wherever they are allowed.
    func hits(in file: SwiftFile) -> [(pattern: String, line: Int)] {
        patterns.flatMap { (pattern: String) -> [(pattern: String, line: Int)] in
            let wanted = SwiftLexer(pattern).tokens
            return (file.places[wanted[0].text] ?? []).compactMap { index in
                guard matches(wanted, at: index, in: file), !isExcused(wanted, at: index, in: file)
                else { return nil }
                return (pattern, file.tokens[index].line)
            }
        }
    }

    private func applies(to file: SwiftFile) -> Bool {
        switch scope {
        case .sources: file.isSource
        case .sourcesAndTests: true
        case .pureRooms: file.isSource && Rooms.pure.contains(file.target)
        }
    }

    private func matches(_ wanted: [SwiftToken], at start: Int, in file: SwiftFile) -> Bool {
        guard start + wanted.count <= file.tokens.count else { return false }
        return wanted.indices.allSatisfy { offset in
            let token = file.tokens[start + offset]
            return token.isCode(wanted[offset].text) && (token.isGlued || !wanted[offset].isGlued)
        }
    }

    private func isExcused(_ wanted: [SwiftToken], at start: Int, in file: SwiftFile) -> Bool {
        if start > 0, unlessAfter.contains(where: file.tokens[start - 1].isCode) { return true }
        guard !unlessArguments.isEmpty, let close = file.closings[start + wanted.count - 1] else {
            return false
        }
        return file.tokens[start..<close].contains { unlessArguments.contains(where: $0.isCode) }
    }
}
