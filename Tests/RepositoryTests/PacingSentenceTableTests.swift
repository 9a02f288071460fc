import Testing

/// Each sentence of the pacing rules has its tests.
@Suite struct PacingSentenceTableTests {
    @Test func `every test that a sentence names is there`() throws {
        let tree = try SourceTree.here.get()
        let tests = tree.texts.filter { $0.path.hasPrefix("Tests/TomboloCoreTests/") }
            .map(\.text).joined()
        #expect(!tests.isEmpty)
        for line in PacingSentences.table {
            #expect(!line.tests.isEmpty, "\(line.rule): \(line.sentence) has no test")
            for name in line.tests {
                #expect(
                    tests.contains("func `\(name)`("),
                    "\(line.rule): \(line.sentence): there is no test `\(name)`")
            }
        }
    }

    @Test func `every rule has sentences`() {
        let rules = Set(PacingSentences.table.map(\.rule))
        #expect(rules == Set((1...16).map(String.init) + ["Why", "Words", "Expiration"]))
    }
}
