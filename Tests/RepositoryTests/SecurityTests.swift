import Testing

/// What `SECURITY.md` says is tested.
@Suite struct SecurityTests {
    @Test func `every line of the page names tests that are there`() throws {
        let tree = try SourceTree.here.get()
        let page = try #require(tree.text(SecurityRule.page))
        #expect(SecurityRule.rows(page).count > 30)
        let tests = tree.texts.filter { $0.path.hasPrefix("Tests/") }
        let violations = SecurityRule.violations(page, tests: tests)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test(arguments: [
        ("| stranger | guesses | `a guess is slow` |", 0),
        ("| stranger | guesses | `a guess is slow`, `Tests/A/run.py` |", 0),
        ("| stranger | guesses | `a guess is slow`, `a guess is told` |", 1),
        ("| stranger | guesses | `Tests/A/walk.py` |", 1),
        ("| stranger | `guesses` | by hand |", 1),
        ("| stranger | guesses | |", 1),
    ])
    func `a row without a test that is there is found`(row: String, count: Int) {
        let page = "# A\n\n| Who | What | Test |\n|---|---|---|\n\(row)\n"
        let tests = [
            (path: "Tests/A/ATests.swift", text: "@Test func `a guess is slow`() {}"),
            (path: "Tests/A/run.py", text: ""),
        ]
        let found = SecurityRule.violations(page, tests: tests)
        #expect(found.map(\.line) == Array(repeating: 5, count: count))
    }
}
