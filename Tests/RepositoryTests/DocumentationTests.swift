import Testing

/// What other rooms see says what it is.
@Suite struct DocumentationTests {
    /// Package structs, classes, enums, actors and protocols without a comment, by room.
    private static let silentTypes = Ratchet(table: [:])

    /// Package functions and initialisers with parameters, and what package protocols ask for.
    private static let silentFunctions = Ratchet(table: [:])

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `fewer and fewer package types are silent`() {
        let violations = silent(.type)
        let report = Self.silentTypes.report(now: Ratchet.counts(violations))
        #expect(report.isEmpty, "\(report)\(violations.report)")
    }

    @Test func `fewer and fewer package functions are silent`() {
        let violations = silent(.function)
        let report = Self.silentFunctions.report(now: Ratchet.counts(violations))
        #expect(report.isEmpty, "\(report)\(violations.report)")
    }

    private func silent(_ kind: DocumentationRule.Kind) -> [Violation] {
        tree.sources.flatMap { file in
            DocumentationRule.declarations(in: file).filter { $0.kind == kind && !$0.isDocumented }
                .map {
                    Violation(
                        path: file.path, line: $0.line, message: "`\($0.name)` has no comment")
                }
        }
    }
}

@Suite struct DocumentationRuleTests {
    private func silent(_ text: String) -> [String] {
        DocumentationRule.declarations(in: SwiftFile(path: "Sources/A/B.swift", text: text))
            .filter { !$0.isDocumented }.map(\.name)
    }

    @Test(arguments: [
        ("package struct A {}", ["A"]), ("// why\npackage final class A {}", ["A"]),
        ("/// what\n\npackage enum A {}", ["A"]), ("package static func a() {}", ["a"]),
        ("/// what\nlet b = 1\n@discardableResult\npackage mutating func a() {}", ["a"]),
        ("package init(a: Int) {}", ["init"]), ("package init?<A>(_ a: A) {}", ["init"]),
        ("/// what\npackage protocol A {\n func b()\n}", ["b"]),
        ("package nonisolated(unsafe) static func a() {}", ["a"]),
    ])
    func `what is silent is found`(text: String, names: [String]) { #expect(silent(text) == names) }

    @Test(arguments: [
        "/// what\npackage struct A {}",
        "/// what\n@frozen\n@available(*, deprecated)\npackage struct A {}",
        "struct A {}", "package init() {}", "package import B", "private func a() {}",
        "/// what\npackage protocol A {\n /// what\n func b()\n}", "package let a = A.self",
        "protocol A {\n func b()\n}",
    ])
    func `what is documented or is no face is let through`(text: String) {
        #expect(silent(text).isEmpty)
    }
}
