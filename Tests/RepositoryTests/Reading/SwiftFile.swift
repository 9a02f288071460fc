/// One Swift file as the rules see it.
struct SwiftFile {
    /// From the top of the tree, such as `Sources/TomboloCore/Events/Event.swift`.
    let path: String
    let lines: [Substring]
    let tokens: [SwiftToken]
    /// The text of the comments by line (from 1).
    let comments: [Int: String]
    /// Where the lexer lost its way, and brackets that do not match.
    let faults: [String]
    /// For each bracket that opens the index of the one that closes it.
    let closings: [Int: Int]
    /// Where each word and symbol of code stands among the tokens.
    let places: [String: [Int]]

    init(path: String, text: String) {
        let lexer = SwiftLexer(text)
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        tokens = lexer.tokens
        comments = lexer.comments
        var faults = lexer.faults
        closings = Self.match(lexer.tokens, faults: &faults)
        self.faults = faults
        places = Dictionary(
            grouping: lexer.tokens.indices.filter { lexer.tokens[$0].kind != .string },
            by: { lexer.tokens[$0].text })
    }

    /// `TomboloCore` of `Sources/TomboloCore/Events/Event.swift`.
    var target: String { component(1) }

    var isSource: Bool { component(0) == "Sources" }

    /// The name without folders and `.swift`.
    var baseName: String {
        let name = path.split(separator: "/").last ?? ""
        return String(name.hasSuffix(".swift") ? name.dropLast(6) : name)
    }

    private func component(_ index: Int) -> String {
        let parts = path.split(separator: "/")
        return index < parts.count ? String(parts[index]) : ""
    }

    private static func match(_ tokens: [SwiftToken], faults: inout [String]) -> [Int: Int] {
        let pairs = ["{": "}", "(": ")", "[": "]"]
        var open: [Int] = []
        var closings: [Int: Int] = [:]
        for (index, token) in tokens.enumerated() where token.kind == .symbol {
            if pairs[token.text] != nil {
                open.append(index)
            } else if pairs.values.contains(token.text) {
                guard let opening = open.popLast(), pairs[tokens[opening].text] == token.text else {
                    faults.append("line \(token.line): `\(token.text)` closes nothing")
                    return closings
                }
                closings[opening] = index
            }
        }
        if let opening = open.last {
            faults.append("line \(tokens[opening].line): `\(tokens[opening].text)` is never closed")
        }
        return closings
    }
}
