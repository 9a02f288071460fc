/// Nothing grows for ever: files, functions, lines. Sizes are those a reader takes in at once.
enum LengthRule {
    static let linesOfSourceMax = 400
    static let linesOfTestMax = 500
    static let linesOfFunctionMax = 60
    static let columnsMax = 100

    /// A length that is over its limit, and what has it: the file, or `file function`.
    struct Excess {
        let name: String
        let length: Int
        let limit: Int
        let line: Int
    }

    static func excesses(in file: SwiftFile) -> [Excess] {
        var excesses: [Excess] = []
        let limit = file.isSource ? linesOfSourceMax : linesOfTestMax
        let count = file.lines.last == "" ? file.lines.count - 1 : file.lines.count
        if count > limit {
            excesses.append(Excess(name: file.path, length: count, limit: limit, line: 1))
        }
        for function in functions(in: file) where function.length > linesOfFunctionMax {
            excesses.append(
                Excess(
                    name: "\(file.path) \(function.name)", length: function.length,
                    limit: linesOfFunctionMax, line: function.line))
        }
        return excesses
    }

    /// The lines beyond the last column. Code the formatter breaks, so what is left is comments and
    /// literals; a line with a text in quotes may be wide, for a text is not broken to fit.
    static func wideLines(in file: SwiftFile) -> [Violation] {
        file.lines.enumerated().compactMap { index, text in
            guard text.utf8.count > columnsMax, text.count > columnsMax, !text.contains("\"")
            else { return nil }
            return Violation(
                path: file.path, line: index + 1,
                message: "\(text.count) columns, wider than \(columnsMax)")
        }
    }

    /// The functions, initialisers, subscripts and computed properties with a body, from the line
    /// of the keyword to that of the closing brace.
    static func functions(in file: SwiftFile) -> [(name: String, line: Int, length: Int)] {
        file.tokens.indices.compactMap { index in
            guard let body = body(of: index, in: file), let end = file.closings[body]
            else {
                return nil
            }
            let keyword = file.tokens[index]
            let name =
                ["func", "var"].contains(keyword.text) ? file.tokens[index + 1].text : keyword.text
            return (name, keyword.line, file.tokens[end].line - keyword.line + 1)
        }
    }

    private static let ends = ["func", "init", "deinit", "subscript", "var", "let", "case", "}"]

    /// The brace that opens the body of the declaration whose keyword stands at `index`; nil
    /// without one.
    static func body(of index: Int, in file: SwiftFile) -> Int? {
        let keyword = file.tokens[index]
        guard ["func", "init", "deinit", "subscript", "var"].contains(where: keyword.isCode),
            index == 0 || !file.tokens[index - 1].isCode(".")
        else { return nil }
        var next = index + 1
        while next < file.tokens.count {
            let token = file.tokens[next]
            if token.isCode("{") { return next }
            if token.kind != .string, ends.contains(token.text) { return nil }
            if keyword.isCode("var"), token.line > keyword.line { return nil }
            next = (file.closings[next] ?? next) + 1
        }
        return nil
    }
}
