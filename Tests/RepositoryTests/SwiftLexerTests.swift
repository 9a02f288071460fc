import Testing

@Suite struct SwiftLexerTests {
    private func words(_ text: String) -> [String] {
        SwiftLexer(text).tokens.filter { $0.kind != .string }.map(\.text)
    }

    @Test func `comments are no code, nested ones neither`() {
        #expect(words("a // b\nc /* d /* e */ f\n g */ h") == ["a", "c", "h"])
        #expect(SwiftLexer("a // b").comments == [1: "// b"])
        #expect(SwiftLexer("/* a\n b */ c").comments == [1: "/* a", 2: " b */"])
        #expect(SwiftLexer("a\n/* b */\nc").tokens.map(\.line) == [1, 3])
    }

    @Test(arguments: [
        #"a("Task {") b"#, #"a("\"Task {") b"#, #"a("// no comment") b"#, ##"a(#"" Task "\"#) b"##,
        "a(\"\"\"\n  Task { \"quoted\" \\\"\"\"\n  \"\"\") b", ##"a(#"""#) b"##, #"a("") b"#,
        ##"a(#/"Task {/#) b"##,
    ])
    func `the content of a string is no code`(text: String) {
        #expect(words(text) == ["a", "(", ")", "b"])
        #expect(SwiftLexer(text).faults.isEmpty)
    }

    @Test func `the code within an interpolation is code`() {
        #expect(
            words(#"x("a \(b ? "c" : f(d)) e") g"#).filter { $0.count == 1 && $0 >= "a" } == [
                "x", "b", "f", "d", "g",
            ])
        #expect(words(##"x(#"a \(b) \#(c)"#)"##).contains("c"))
        #expect(!words(##"x(#"a \(b) \#(c)"#)"##).contains("b"))
    }

    @Test func `a name between backticks is one word`() {
        #expect(
            words("func `a \"Task {\" // is no task`() {}") == [
                "func", "`a \"Task {\" // is no task`", "(", ")", "{", "}",
            ])
    }

    @Test func `strings keep their content and their line`() {
        let strings = SwiftLexer("\n a(\"b\", \"\"\"\n  c\n  \"\"\")").tokens.filter {
            $0.kind == .string
        }
        #expect(strings.map(\.text) == ["b", "\n  c\n  "])
        #expect(strings.map(\.line) == [2, 2])
    }

    @Test func `what touches is told from what does not`() {
        #expect(SwiftLexer("try!a").tokens.map(\.isGlued) == [false, true, true])
        #expect(SwiftLexer("try !a").tokens.map(\.isGlued) == [false, false, true])
    }

    @Test(arguments: ["\"a", "\"a\n\"", "/* a", "`a\nb`", "\"\\(a", "{ a", "( ]", "a }"])
    func `text that cannot be followed is a fault`(text: String) {
        #expect(!SwiftFile(path: "Sources/A/B.swift", text: text).faults.isEmpty)
    }

    @Test func `every file of the tree is followed to its end`() throws {
        let tree = try SourceTree.here.get()
        #expect(tree.sources.count > 40, "the tree was not found at \(tree.root)")
        let lost = tree.swiftFiles.flatMap { file in file.faults.map { "\n\(file.path): \($0)" } }
        #expect(lost.isEmpty, "\(lost.joined())")
    }
}
