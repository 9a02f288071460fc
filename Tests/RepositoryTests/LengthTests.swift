import Testing

/// Lengths, and the exceptions that are still there. An exception only shrinks, and goes when what
/// it names keeps the limit.
@Suite struct LengthTests {
    /// Files by path, functions by `path name`, and the length they have.
    private static let exceptions = Ratchet(table: [:])

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `files and functions keep their length`() {
        let excesses = tree.swiftFiles.flatMap(LengthRule.excesses)
        let report = Self.exceptions.report(
            now: Dictionary(excesses.map { ($0.name, $0.length) }, uniquingKeysWith: max))
        #expect(report.isEmpty, "\(report)")
    }

    @Test func `no line is wider than the page`() {
        let violations = tree.swiftFiles.flatMap(LengthRule.wideLines)
        #expect(violations.isEmpty, "\(violations.report)")
    }
}

@Suite struct LengthRuleTests {
    private func function(_ lines: Int) -> String {
        "func a(b: Int = { 1 }()) {\n" + String(repeating: "    b()\n", count: lines - 2) + "}\n"
    }

    private func excesses(_ text: String, at path: String = "Sources/A/B.swift") -> [Int] {
        LengthRule.excesses(in: SwiftFile(path: path, text: text)).map(\.length)
    }

    @Test func `a function is measured at the limit and past it`() {
        #expect(excesses(function(LengthRule.linesOfFunctionMax)).isEmpty)
        #expect(
            excesses(function(LengthRule.linesOfFunctionMax + 1)) == [
                LengthRule.linesOfFunctionMax + 1
            ])
    }

    @Test func `a file is measured at the limit and past it`() {
        let lines = { String(repeating: "let a = 1\n", count: $0) }
        #expect(excesses(lines(LengthRule.linesOfSourceMax)).isEmpty)
        #expect(
            excesses(lines(LengthRule.linesOfSourceMax + 1)) == [LengthRule.linesOfSourceMax + 1])
        #expect(excesses(lines(LengthRule.linesOfTestMax), at: "Tests/A/B.swift").isEmpty)
        #expect(excesses(lines(LengthRule.linesOfTestMax + 1), at: "Tests/A/B.swift").count == 1)
    }

    @Test func `braces in strings do not end a function`() {
        let text =
            "struct A {\n func b() {\n let c = \"}\" // }\n }\n var d: Int {\n 1\n }\n let e = 1\n}"
        let found = LengthRule.functions(in: SwiftFile(path: "Sources/A/B.swift", text: text))
        #expect(found.map(\.name) == ["b", "d"])
        #expect(found.map(\.length) == [3, 3])
    }

    @Test func `a requirement has no body, and a call of init is no initialiser`() {
        let text =
            "protocol A {\n func b()\n init()\n}\nstruct C {\n init() {\n self.init(1)\n }\n}"
        let found = LengthRule.functions(in: SwiftFile(path: "Sources/A/B.swift", text: text))
        #expect(found.map(\.name) == ["init"])
    }

    @Test func `columns are counted at the limit and past it`() {
        let lines = { (count: Int) in
            let text = "let a" + String(repeating: "é", count: count - 5)
            return LengthRule.wideLines(in: SwiftFile(path: "Sources/A/B.swift", text: text)).count
        }
        #expect(lines(LengthRule.columnsMax) == 0)
        #expect(lines(LengthRule.columnsMax + 1) == 1)
    }

    @Test func `a ratchet holds what is there, and nothing else`() {
        let ratchet = Ratchet(table: ["A": 2, "B": 1])
        #expect(ratchet.report(now: ["A": 2, "B": 1, "C": 0]) == "")
        #expect(ratchet.report(now: ["A": 3, "B": 1]).hasPrefix("\nA: 3, 1 more than before"))
        #expect(ratchet.report(now: ["A": 2]).hasPrefix("\nB: 0 instead of 1"))
        #expect(ratchet.report(now: ["A": 2, "B": 1, "C": 1]).hasPrefix("\nC: 1, 1 more"))
        let violations = ["Sources/A/B.swift", "Sources/A/C.swift", "Tests/D/E.swift"].map {
            Violation(path: $0, line: nil, message: "")
        }
        #expect(Ratchet.counts(violations) == ["A": 2, "D": 1])
    }
}
