import Testing

/// Each library shows on its face how it is used, and what it shows compiles: `FaceTests` have the
/// same lines.
@Suite struct FaceExampleRuleTests {
    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `the face of each library shows an example that a test compiles`() {
        let compiled = tree.swiftFiles.filter { $0.path.hasPrefix("Tests/FaceTests/") }
            .map { "\n" + Self.plain($0.lines.map(String.init)).joined(separator: "\n") + "\n" }
        #expect(!compiled.isEmpty)
        let examples = tree.sources.map { ($0, Self.examples(in: $0.lines.map(String.init))) }
        for (file, blocks) in examples {
            for block in blocks {
                let text = "\n" + block.joined(separator: "\n") + "\n"
                #expect(
                    compiled.contains { $0.contains(text) }, "\(file.path): \(text) is in no test")
            }
        }
        let shown = Set(examples.filter { !$0.1.isEmpty }.map(\.0.target))
        let libraries = Set(tree.sources.map(\.target)).subtracting(Rooms.inC)
            .subtracting(["tombolo", "TomboloProgram"])
        #expect(libraries.subtracting(shown).isEmpty)
    }

    @Test func `an example is what stands between the fences of a comment`() {
        let lines = [
            "/// A.", "/// ```swift", "/// let a = 1  // one", "///", "/// ```", "let b = 2",
        ]
        #expect(Self.examples(in: lines) == [["let a = 1"]])
    }

    /// The lines of each example, as `plain` has them.
    private static func examples(in lines: [String]) -> [[String]] {
        var found: [[String]] = []
        var current: [String]?
        for line in lines {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("///") else { continue }
            let content = String(text.dropFirst(3))
            if content.hasPrefix(" ```") {
                if let block = current { found.append(plain(block)) }
                current = current == nil && content == " ```swift" ? [] : nil
            } else {
                current?.append(content)
            }
        }
        return found
    }

    /// Without indentation, comments behind code and empty lines.
    private static func plain(_ lines: [String]) -> [String] {
        lines.map { line in
            let code = line.firstRange(of: "  //").map { line[..<$0.lowerBound] } ?? line[...]
            return String(code.drop { $0 == " " })
        }.filter { !$0.isEmpty }
    }
}
