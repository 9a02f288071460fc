import Testing

/// The top of the tree, and what no text in it says.
@Suite struct TreeTests {
    private static let topLevel: Set<String> = [
        "Package.swift", "Sources", "Tests", "Protocol", "deploy", "README.md", "LICENSE",
        "CONTRIBUTING.md", "SECURITY.md",
    ]

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `the top of the tree is what it is`() {
        let there = Set(tree.topLevel.filter { !$0.hasPrefix(".") })
        #expect(
            there.subtracting(Self.topLevel).isEmpty, "a room of its own, or in a room that exists")
        #expect(Self.topLevel.subtracting(there).isEmpty, "what everybody looks for is missing")
    }

    @Test func `no text names one machine or a registry`() {
        let violations = tree.texts.flatMap { TextRule.violations(path: $0.path, text: $0.text) }
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func `the licence is whole`() throws {
        let licence = try #require(tree.text("LICENSE"))
        #expect(
            licence.contains("Apache License\n") && licence.contains("Version 2.0, January 2004"))
        for section in 1...9 {
            #expect(licence.contains("\n   \(section). "), "section \(section)")
        }
        #expect(licence.contains("END OF TERMS AND CONDITIONS"))
    }
}

@Suite struct TextRuleTests {
    private func hits(_ text: String) -> Int { TextRule.violations(path: "A", text: text).count }

    @Test(arguments: ["work", "tmp/wt", "root"])
    func `a folder of one machine is found`(name: String) {
        let place = "/" + name
        #expect(hits("a\ncd \(place)/a\n") == 1)
        #expect(hits("\"\(place)\"") == 1)
        #expect(hits("a=\(place)") == 1)
        #expect(hits("\(place)ers") == 0)
        #expect(hits("a\(place)/b ..\(place) https://a.b\(place)") == 0)
    }

    @Test(arguments: ["pypi" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org"])
    func `a registry's host is found`(host: String) {
        #expect(hits("from https://\(host)/a") == 1)
        #expect(hits("from https://developer.apple.com/a") == 0)
    }
}
