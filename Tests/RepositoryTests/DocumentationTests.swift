import Testing

/// What other rooms see says what it is.
@Suite struct DocumentationTests {
    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `no package type is silent`() {
        let violations = DocumentationRule.silent(.type, in: tree.sources)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    /// Functions and initialisers with parameters, and what package protocols ask for.
    @Test func `no package function is silent`() {
        let violations = DocumentationRule.silent(.function, in: tree.sources)
        #expect(violations.isEmpty, "\(violations.report)")
    }
}

@Suite struct DocumentationRuleTests {
    private func silent(_ text: String) -> [String] {
        let file = SwiftFile(path: "Sources/A/B.swift", text: text)
        return [.type, .function].flatMap { (kind: DocumentationRule.Kind) in
            DocumentationRule.silent(kind, in: [file]).map {
                String($0.message.split(separator: "`")[0])
            }
        }
    }

    @Test(arguments: [
        ("package struct A {}", ["A"]), ("// why\npackage final class A {}", ["A"]),
        ("/// what\n\npackage enum A {}", ["A"]), ("package static func a() {}", ["a"]),
        ("/// what\nlet b = 1\n@discardableResult\npackage mutating func a() {}", ["a"]),
        ("package init(a: Int) { self.a = a + 1 }", ["init"]),
        ("package init?<A>(_ a: A) { return nil }", ["init"]),
        ("/// what\npackage protocol A {\n func b()\n}", ["b"]),
        ("package nonisolated(unsafe) static func a() {}", ["a"]),
        ("public struct A {}", ["A"]), ("public mutating func a(b: Int) {}", ["a"]),
    ])
    func `what is silent is found`(text: String, names: [String]) { #expect(silent(text) == names) }

    @Test(arguments: [
        "/// what\npackage struct A {}",
        "/// what\n@frozen\n@available(*, deprecated)\npackage struct A {}",
        "struct A {}", "package init() {}", "package import B", "private func a() {}",
        "/// what\npackage protocol A {\n /// what\n func b()\n}", "package let a = A.self",
        "protocol A {\n func b()\n}", "protocol A {\n func b()\n}\npackage func b() {}",
        "package func < (a: A, b: A) -> Bool {}",
        "package init(a: A, b: B) {\n self.a = a\n self.b = b\n}",
    ])
    func `what is documented or is no face is let through`(text: String) {
        #expect(silent(text).isEmpty)
    }
}
