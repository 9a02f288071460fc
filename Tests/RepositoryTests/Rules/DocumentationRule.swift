/// What other rooms see is documented where it is declared.
enum DocumentationRule {
    enum Kind { case type, function }

    struct Declaration {
        let kind: Kind
        let name: String
        let line: Int
        let isDocumented: Bool
        /// Whether a protocol asks for it here.
        let isRequired: Bool
    }

    /// What the standard library's protocols ask for; said there.
    private static let standardRequirements: Set<String> = [
        "<", "==", "hash", "next", "makeIterator", "index", "encode", "enqueue", "checkIsolated",
        "isIsolatingCurrentContext",
    ]

    private static let types = ["struct", "class", "enum", "actor", "protocol"]
    private static let modifiers: Set<String> = [
        "package", "public", "final", "static", "class", "mutating", "nonmutating", "nonisolated",
        "indirect",
        "override", "convenience", "required", "borrowing", "consuming", "isolated", "nonisolated",
    ]

    /// The declarations that say nothing and would have to. What a protocol asks for is said there,
    /// once: not again where a type answers it. An initialiser that only takes its properties says
    /// no more than they do.
    static func silent(_ kind: Kind, in files: [SwiftFile]) -> [Violation] {
        let all = files.map { file in (file, declarations(in: file)) }
        let required = Set(
            files.flatMap { file in
                requirementRanges(in: file, ofPackage: false).flatMap { range in
                    range.filter { file.tokens[$0].isCode("func") }.map { file.tokens[$0 + 1].text }
                }
            }
        ).union(standardRequirements)
        return all.flatMap { file, declarations in
            declarations.filter { declaration in
                declaration.kind == kind && !declaration.isDocumented
                    && (declaration.isRequired || !required.contains(declaration.name))
            }.map {
                Violation(path: file.path, line: $0.line, message: "`\($0.name)` has no comment")
            }
        }
    }

    /// The types and protocols that other rooms see (`package` or `public`); their functions and
    /// initialisers with parameters; the functions such a protocol asks for.
    static func declarations(in file: SwiftFile) -> [Declaration] {
        let requirements = requirementRanges(in: file, ofPackage: true)
        return file.tokens.indices.compactMap { index in
            guard let kind = kind(at: index, in: file) else { return nil }
            let first = firstModifier(before: index, in: file)
            let isPackage = file.tokens[first...index].contains(where: isFace)
            let isRequired = requirements.contains { $0.contains(index) }
            guard isPackage || isRequired, !isMemberwise(index, in: file) else { return nil }
            let token = file.tokens[index]
            return Declaration(
                kind: kind, name: token.isCode("init") ? "init" : file.tokens[index + 1].text,
                line: token.line,
                isDocumented: file.comments[file.tokens[first].line - 1]?.hasPrefix("///") ?? false,
                isRequired: isRequired)
        }
    }

    /// Whether it is an initialiser without a label of its own whose body only sets properties to
    /// what it was given: `self.name = name`, and nothing else.
    private static func isMemberwise(_ index: Int, in file: SwiftFile) -> Bool {
        guard file.tokens[index].isCode("init"), let body = LengthRule.body(of: index, in: file),
            let end = file.closings[body], (end - body - 1).isMultiple(of: 5)
        else { return false }
        return stride(from: body + 1, to: end, by: 5).allSatisfy { start in
            let words = file.tokens[start..<start + 5].map(\.text)
            return words[0] == "self" && words[1] == "." && words[3] == "=" && words[2] == words[4]
        }
    }

    private static func isFace(_ token: SwiftToken) -> Bool {
        token.isCode("package") || token.isCode("public")
    }

    private static func kind(at index: Int, in file: SwiftFile) -> Kind? {
        let token = file.tokens[index]
        guard index + 2 < file.tokens.count else { return nil }
        if index > 0, file.tokens[index - 1].isCode(".") { return nil }
        if types.contains(where: token.isCode) {
            // `class func` is a function, `class` a bound of a protocol, `.self` was seen to above.
            return file.tokens[index + 1].kind == .word && !file.tokens[index + 1].isCode("func")
                ? .type : nil
        }
        if token.isCode("func") { return .function }
        guard token.isCode("init") else { return nil }
        var open = index + 1
        while open < file.tokens.count, !file.tokens[open].isCode("(") { open += 1 }
        return file.closings[open] == open + 1 ? nil : .function
    }

    /// The first token of the declaration whose keyword stands at `index`: past modifiers and
    /// attributes.
    private static func firstModifier(before index: Int, in file: SwiftFile) -> Int {
        var first = index
        while first > 0 {
            let before = file.tokens[first - 1]
            if before.kind == .word, modifiers.contains(before.text) {
                first -= 1
            } else if first > 1, file.tokens[first - 2].isCode("@") {
                first -= 2
            } else if before.isCode(")"), let open = opening(of: first - 1, in: file), open > 0 {
                guard modifiers.contains(file.tokens[open - 1].text) || isAttribute(open, in: file)
                else { break }
                first = isAttribute(open, in: file) ? open - 2 : open - 1
            } else {
                break
            }
        }
        return first
    }

    private static func isAttribute(_ open: Int, in file: SwiftFile) -> Bool {
        open > 1 && file.tokens[open - 2].isCode("@")
    }

    private static func opening(of close: Int, in file: SwiftFile) -> Int? {
        (max(0, close - 40)..<close).last { file.closings[$0] == close }
    }

    private static func requirementRanges(
        in file: SwiftFile, ofPackage: Bool
    ) -> [Range<Int>] {
        (file.places["protocol"] ?? []).compactMap { index in
            guard !ofPackage || index > 0 && isFace(file.tokens[index - 1]),
                let open = (index..<file.tokens.count).first(where: { file.tokens[$0].isCode("{") }
                ),
                let close = file.closings[open]
            else { return nil }
            return open..<close
        }
    }
}
