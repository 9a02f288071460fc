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

    @Test func `every rule of the page has sentences`() throws {
        let tree = try SourceTree.here.get()
        let page = try #require(tree.text("Sources/TomboloCore/README.md"))
        let numbers = page.split(separator: "\n").filter { $0.contains(". **") }
            .compactMap { $0.split(separator: ".").first.flatMap { Int($0) } }
        #expect(numbers == Array(1...numbers.count))
        let rules = Set(PacingSentences.table.map(\.rule))
        #expect(rules == Set(numbers.map(String.init) + ["Why", "Words", "Expiration"]))
    }
}
