import Testing

/// The log's filters know each fact by its name.
@Suite struct FactKindTests {
    private static let rooms = ["TomboloCore", "TomboloRelay", "TomboloServer"]
    /// Of the shape of a fact's name, and no fact.
    private static let others: Set<String> = ["card.none", "index.html", "lock.open"]

    @Test func `each fact that is written may be asked for`() throws {
        let tree = try SourceTree.here.get()
        let list = try #require(tree.sources.first { $0.baseName == "FactKinds" })
        let known = Set(Self.strings(list))
        #expect(known.count > 40)
        let written = tree.sources.filter { Self.rooms.contains($0.target) }
            .flatMap(Self.strings).filter(Self.isName)
        #expect(Set(written).subtracting(known) == Self.others)
    }

    @Test func `the page of the protocol names each`() throws {
        let tree = try SourceTree.here.get()
        let list = try #require(tree.sources.first { $0.baseName == "FactKinds" })
        let page = try #require(tree.text("Protocol/README.md"))
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let named = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").map(String.init)
        }
        let all = Self.strings(list).filter {
            Self.isName($0) || ["action", "erased"].contains($0)
        }
        #expect(Set(all).subtracting(named).isEmpty)
    }

    private static func strings(_ file: SwiftFile) -> [String] {
        file.tokens.filter { $0.kind == .string }.map(\.text)
    }

    /// Two words with a dot between.
    private static func isName(_ text: String) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        return words.count == 2
            && words.allSatisfy { word in
                !word.isEmpty
                    && word.allSatisfy { ("a"..."z").contains($0) || $0 == "_" || $0 == "-" }
            }
    }
}
