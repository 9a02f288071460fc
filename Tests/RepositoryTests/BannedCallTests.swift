import Testing

/// What this house does not write.
@Suite struct BannedCallTests {
    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `no banned call is made`() {
        let violations = tree.swiftFiles.flatMap { file in
            BannedCall.table.flatMap { $0.violations(in: file) }
        }
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `every allowance is used`() {
        for ban in BannedCall.table {
            for place in ban.allowed where !place.hasSuffix("/") {
                let file = tree.swiftFiles.first { $0.path == place }
                #expect(
                    file.map { !ban.hits(in: $0).isEmpty } ?? false,
                    "\(place) makes no use of its allowance for \(ban.patterns): strike it")
            }
        }
    }

    @Test func `what needs a reason has one`() {
        let violations = tree.swiftFiles.flatMap(ExplainedRule.violations)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `no test passes without asserting what it is about`() {
        let violations = tree.swiftFiles.flatMap(SilentReturnRule.violations)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `what reads a request computes nothing`() {
        let violations = tree.swiftFiles.flatMap(ReadingRule.violations)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `no test but the one wrapper starts a program`() {
        let spawning = tree.swiftFiles.filter { file in
            !file.isSource
                && ["posix_spawn", "posix_spawnp", "fork"].contains {
                    file.places[$0] != nil
                }
        }.map(\.path)
        #expect(spawning == ["Tests/TestSupport/Subprocess.swift"])
    }

    @Test func `nothing is put off in a comment`() {
        let violations = tree.swiftFiles.flatMap(TextRule.postponed)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `no build is unchecked`() {
        let flag = "-O" + "unchecked"
        let places = tree.texts.filter { $0.text.contains(flag) }.map(\.path)
        #expect(places.isEmpty, "\(flag) makes side effects within `precondition` vanish")
    }

    @Test func `no source has a switch for tests`() {
        let places = tree.texts.filter {
            $0.path.hasPrefix("Sources/") && $0.text.contains("#if " + "PLANTED")
        }.map(\.path)
        #expect(places.isEmpty, "mutants change what passes at the relay's edges: Tests/Simulation")
    }

    @Test func `no file is named after nothing`() {
        let empty = ["Utils", "Utilities", "Helpers", "Helper", "Common", "Manager", "Misc"]
        let named = tree.swiftFiles.filter { empty.contains(where: $0.baseName.hasSuffix) }.map(
            \.path)
        #expect(named.isEmpty, "a name that says what is in it")
    }
}

/// Each rule finds what was planted, and leaves alone what only looks like it.
@Suite struct BannedCallRuleTests {
    private func hits(_ text: String, at path: String = "Sources/TomboloCore/A.swift") -> Int {
        let file = SwiftFile(path: path, text: text)
        return BannedCall.table.flatMap { $0.violations(in: file) }.count
    }

    @Test func `a test that returns where its result does not match is found`() {
        func hits(_ body: String, attribute: String = "@Test") -> Int {
            let text = "\(attribute) func `a`() {\n \(body)\n}"
            return SilentReturnRule.violations(
                in: SwiftFile(path: "Tests/ATests/A.swift", text: text)
            ).count
        }
        #expect(hits("guard case .a(let b) = c else { return }") == 1)
        #expect(hits("run { guard let a = b() else { return } }") == 1)
        #expect(hits("guard let a = b() else { return }", attribute: "@Test(arguments: [1])") == 1)
        #expect(hits("guard case .a = c else { Issue.record(); return }") == 0)
        #expect(hits("guard isFirst else { return }") == 0)
        #expect(hits("guard let a = b() else { return }", attribute: "") == 0)
    }

    @Test(arguments: [
        ("let a = b * c", 1), ("a += 1", 1), ("let a = b &+ c", 1), ("let a = b\n    - c", 1),
        ("fail(\"a\" + b)", 0), ("let a = -b", 0), ("func a() -> B { c / d }", 1),
        ("func a() -> B {}", 0), ("let a: A<B> = c as? D", 0),
    ])
    func `arithmetic is found where requests are read`(text: String, count: Int) {
        func hits(_ path: String, _ text: String) -> Int {
            ReadingRule.violations(in: SwiftFile(path: path, text: text)).count
        }
        #expect(hits("Sources/A/B+Reading.swift", text) == count)
        #expect(hits("Sources/A/B.swift", "func f(_ r: FieldReader) {\n \(text)\n}") == count)
        #expect(hits("Sources/A/B.swift", "func f() {\n \(text)\n}") == 0)
    }

    @Test func `every pattern of the table is found where it is planted`() {
        for ban in BannedCall.table {
            for pattern in ban.patterns {
                let planted = SwiftFile(
                    path: "Sources/TomboloCore/Planted.swift", text: "let a = b\n\(pattern)")
                #expect(
                    ban.violations(in: planted).contains { $0.line == 2 },
                    "\(pattern) is never found")
            }
        }
    }

    @Test func `a pattern is not found in comments, strings and names`() {
        for pattern in BannedCall.table.flatMap(\.patterns) {
            #expect(hits("// \(pattern)\nlet a = #\"\(pattern)\"#\nfunc `x \(pattern)`()") == 0)
        }
    }

    @Test(arguments: [
        "Task{ }", "_ = Task\n{ }", "Task<Void, Never> { }", "let a = try! b()",
        "@MainActor func a()",
        "let a = Int.random(in: 0...9)", "let a = [1].shuffled()", "\"\\(Date())\"", "print(1)",
        "func a() async", "sleep(1)", "public let a = 1",
        "let a = b(c)[0]", "let a = b.first!.c", "d(a.last!)", "let a = B(c)!",
    ])
    func `a variation is found`(text: String) { #expect(hits(text) == 1) }

    @Test(arguments: [
        "Task.isCancelled", "withTaskGroup { }", "let a = try !isOpen()", "loop.sleep(1)",
        "let a = Int.random(in: 0...9, using: &chance)", "terminal.print(1)", "package let a = 1",
        "func sleep(for duration: Duration)", "sleep(until: deadline)", "bucket.time(keeping: 1)",
        "let fatalErrors = 1", "let a = b() != c", "let a = b[0]", "let a = b.first ?? c",
    ])
    func `what is wanted is let through`(text: String) { #expect(hits(text) == 0) }

    @Test func `a call is allowed in its place only`() {
        let text = "Task(executorPreference: loop) { }"
        #expect(hits(text, at: "Sources/TomboloLoop/EpollLoop+Start.swift") == 0)
        #expect(hits(text, at: "Sources/TomboloLoop/EpollLoop.swift") == 1)
        #expect(hits("print(1)", at: "Sources/TomboloProgram/Program.swift") == 0)
        #expect(hits("print(1)", at: "Tests/TomboloLoopTests/A.swift") == 0)
        #expect(hits("func a() async", at: "Sources/TomboloLoop/A.swift") == 0)
    }

    private func unexplained(_ text: String) -> Int {
        ExplainedRule.violations(in: SwiftFile(path: "Sources/A/B.swift", text: text)).count
    }

    @Test func `an unchecked Sendable says who serialises`() {
        #expect(unexplained("final class A: @unchecked Sendable {}") == 1)
        #expect(unexplained("/// Keeps a number.\nfinal class A: @unchecked Sendable {}") == 1)
        #expect(
            unexplained(
                "/// Used on its loop.\n///\n///\n/// More.\nclass A:\n @unchecked Sendable {}")
                == 0)
        #expect(
            unexplained("// Used on its loop.\nlet a = 1\n\n\nclass A: @unchecked Sendable {}") == 1
        )
        #expect(unexplained("class A: @unchecked Sendable {}  // used on its loop") == 0)
    }

    @Test func `a silenced error says why`() {
        #expect(unexplained("let a = try? b()") == 1)
        #expect(unexplained("let a = try? b()  // gone is gone") == 0)
        #expect(unexplained("// Gone is gone.\nlet a = try? b()") == 0)
        #expect(unexplained("// Gone is gone.\nlet c = 1\nlet a = try? b()") == 1)
        #expect(unexplained("let a = try b()") == 0)
    }

    @Test func `words that put off are found in comments and names`() {
        let word = "TO" + "DO"
        let found = { TextRule.postponed(in: SwiftFile(path: "Sources/A/B.swift", text: $0)).count }
        #expect(found("// \(word): later") == 1)
        #expect(found("let \(word) = 1 /// it's \(word)") == 2)
        #expect(found("let a = \"\(word)\"  // \(word)S") == 0)
    }
}
