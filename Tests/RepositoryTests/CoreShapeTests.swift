import Testing

/// How much of the core is still one struct. Its parts are to have their own state.
@Suite struct CoreShapeTests {
    private static let extensions = Ratchet(table: ["files that extend Core": 44])

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `no further file extends Core`() {
        let files = tree.sources.filter { $0.target == "TomboloCore" && Self.extendsCore($0) }
        let report = Self.extensions.report(now: ["files that extend Core": files.count])
        #expect(report.isEmpty, "\(report)")
    }

    @Test func `a file that extends Core is found, and one that extends another type is not`() {
        let file = { SwiftFile(path: "Sources/TomboloCore/A.swift", text: $0) }
        #expect(Self.extendsCore(file("import B\nextension Core {\n}")))
        #expect(!Self.extendsCore(file("// extension Core {\nextension CoreSizes {\n}")))
    }

    private static func extendsCore(_ file: SwiftFile) -> Bool {
        (file.places["extension"] ?? []).contains { index in
            index + 1 < file.tokens.count && file.tokens[index + 1].isCode("Core")
        }
    }
}
