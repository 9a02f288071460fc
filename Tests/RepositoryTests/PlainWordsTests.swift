import Testing

/// What users read is in plain words, and comments come to be.
@Suite struct PlainWordsTests {
    private static let comments = Ratchet(table: [
        "CoreRig": 2, "EndToEndTests": 11, "RepositoryTests": 9, "Simulation": 52,
        "SimulationTests": 1, "TestSupport": 1, "TomboloAPITests": 1,
        "TomboloAPNsTests": 8, "TomboloCoreTests": 3, "TomboloHTTPTests": 7,
        "TomboloRelayTests": 1, "TomboloSQLiteTests": 4,
        "TomboloServerTests": 8, "TomboloSimulatorTests": 4, "histories": 1, "simulate": 2,
    ])

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `what users read is in plain words`() {
        let strings = tree.sources.flatMap(PlainWordsRule.violations)
        let texts = tree.texts.filter { text in
            text.path.hasSuffix(".md") || text.path.hasPrefix("Protocol/")
                || text.path.hasPrefix("deploy/") || text.path.contains("/console/")
        }
        .flatMap { PlainWordsRule.violations(path: $0.path, text: $0.text) }
        #expect((strings + texts).isEmpty, "\((strings + texts).report)")
    }

    @Test func `comments say fewer of the words, never more`() {
        let report = Self.comments.report(now: PlainWordsRule.comments(tree.swiftFiles))
        #expect(report.isEmpty, "\(report)")
    }

    @Test(arguments: [
        ("the rule that stands there", 1), ("What it TOLD, and whoever\nasked", 2),
        ("`none of` them", 1), ("None.  Of", 1), ("a recommended standstill, untold", 0),
        ("letting go", 0),
    ])
    func `a word is found whole, in any case`(text: String, count: Int) {
        #expect(PlainWordsRule.count(in: text) == count)
    }

    @Test func `a string is found, a comment is not, and the other way about`() {
        let file = SwiftFile(
            path: "Sources/A/B.swift", text: "// It stands.\nlet a = \"who is told\"\n")
        #expect(PlainWordsRule.violations(in: file).map(\.line) == [2])
        #expect(PlainWordsRule.comments([file]) == ["A": 1])
    }
}
