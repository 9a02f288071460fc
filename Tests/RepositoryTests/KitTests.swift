import Testing

/// The kit for phones. Nobody here has a phone, so it is small enough to be read, and decides
/// little: what can be decided without ActivityKit is in `TomboloContract`, and tested.
@Suite struct KitTests {
    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    /// Lines without blank ones. So much can be read at once, and it only shrinks.
    private static let linesMax = 760
    private static let linesOfFileMax = 126
    private static let branchesMax = 25

    private var kit: [SwiftFile] {
        tree.phoneFiles.filter(\.isSource)
    }

    @Test func `the kit keeps its length`() {
        let lengths = kit.map { file in
            (file.path, tree.text(file.path)?.split(separator: "\n").count ?? 0)
        }
        #expect(lengths.count >= 8)
        #expect(lengths.filter { $0.1 > Self.linesOfFileMax }.isEmpty, "\(lengths)")
        let all = lengths.reduce(0) { $0 + $1.1 }
        #expect(all <= Self.linesMax, "\(all) lines without blank ones")
    }

    @Test func `the kit decides little`() {
        let branches = kit.flatMap { file in
            file.tokens.indices.filter { index in
                file.tokens[index].kind == .word
                    && ["if", "guard", "switch"].contains(file.tokens[index].text)
                    && (index == 0 || !file.tokens[index - 1].isCode("#"))
            }.map { "\(file.path):\(file.tokens[$0].line): \(file.tokens[$0].text)" }
        }
        #expect(branches.count > 5)
        #expect(
            branches.count <= Self.branchesMax, "\(branches.joined(separator: "\n"))")
    }

    @Test func `each file of the kit is for phones only`() {
        for file in kit {
            let text = tree.text(file.path) ?? ""
            #expect(
                text.hasPrefix("#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)\n"),
                "\(file.path)")
        }
    }

    @Test func `each stub names the page of Apple that it is from`() {
        for file in tree.phoneFiles where !file.isSource {
            let text = tree.text(file.path) ?? ""
            let names = text.contains("developer.apple.com/documentation/")
            #expect(names || text.contains("from memory"), "\(file.path)")
        }
    }

    @Test func `no line for phones is wider than the page`() {
        let violations = tree.phoneFiles.flatMap(LengthRule.wideLines)
        #expect(violations.isEmpty, "\(violations.report)")
    }
}
