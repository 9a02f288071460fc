/// A test whose result is of the wrong kind fails: it does not return as if it had passed.
enum SilentReturnRule {
    static func violations(in file: SwiftFile) -> [Violation] {
        guard !file.isSource else { return [] }
        return (file.places["Test"] ?? []).flatMap { attribute -> [Violation] in
            guard attribute > 0, file.tokens[attribute - 1].isCode("@"),
                let function = file.tokens[attribute...].firstIndex(where: { $0.isCode("func") }),
                let body = LengthRule.body(of: function, in: file), let end = file.closings[body]
            else { return [] }
            return (body..<end).filter { isSilent(guardAt: $0, in: file) }.map { index in
                Violation(
                    path: file.path, line: file.tokens[index].line,
                    message: "the test passes where this does not match: record an issue, or use "
                        + "`#require`")
            }
        }
    }

    /// Whether a `guard` binds or matches something, and does nothing but return where it cannot.
    private static func isSilent(guardAt index: Int, in file: SwiftFile) -> Bool {
        guard file.tokens[index].isCode("guard"), index + 1 < file.tokens.count,
            ["let", "case", "var"].contains(where: file.tokens[index + 1].isCode)
        else { return false }
        var next = index + 1
        while next < file.tokens.count, !file.tokens[next].isCode("else") {
            next = (file.closings[next] ?? next) + 1
        }
        let expected = ["else", "{", "return", "}"]
        guard next + expected.count <= file.tokens.count else { return false }
        return expected.indices.allSatisfy { file.tokens[next + $0].isCode(expected[$0]) }
    }
}
