/// What is written only together with its reason.
enum ExplainedRule {
    /// The words with which a comment says who serialises.
    static let serialising = ["serialis", "loop", "thread", "lock", "mutex", "immutable", "only"]
    /// So far above or below its sentence may `@unchecked Sendable` stand.
    static let reach = 3

    static func violations(in file: SwiftFile) -> [Violation] {
        sendables(in: file) + silencedErrors(in: file)
    }

    private static func sendables(in file: SwiftFile) -> [Violation] {
        (file.places["unchecked"] ?? []).compactMap { index in
            guard index > 0,
                file.tokens[index - 1].isCode("@")
            else { return nil }
            let line = file.tokens[index].line
            let comment = comments(around: line, in: file).lowercased()
            guard !serialising.contains(where: comment.contains) else { return nil }
            return Violation(
                path: file.path, line: line,
                message: "`@unchecked Sendable` without the sentence that says who serialises")
        }
    }

    /// The comments within reach, each whole: a block that begins further up counts from its
    /// beginning.
    private static func comments(around line: Int, in file: SwiftFile) -> String {
        var first = max(1, line - reach)
        if let highest = (first...line).first(where: { file.comments[$0] != nil }), highest == first
        {
            while file.comments[first - 1] != nil { first -= 1 }
        }
        return (first...(line + reach)).compactMap { file.comments[$0] }.joined(separator: " ")
    }

    private static func silencedErrors(in file: SwiftFile) -> [Violation] {
        (file.places["?"] ?? []).compactMap { index in
            guard index > 0, file.tokens[index - 1].isCode("try")
            else { return nil }
            let line = file.tokens[index].line
            guard file.comments[line] == nil, file.comments[line - 1] == nil else { return nil }
            return Violation(
                path: file.path, line: line,
                message:
                    "`try?` without a comment, on its line or above, why the error does not matter")
        }
    }
}
