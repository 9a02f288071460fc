import Testing

/// How much of the core is still one struct. Its parts are to have their own state.
@Suite struct CoreShapeTests {
    private static let shape = Ratchet(table: [
        "bare Int parameters": 13,
        "calls of evaluate": 1,
        "files in the largest circle": 40,
        "files that extend Core": 51,
        "functions in extension Core": 466,
        "signatures with effects: inout": 13,
        "stored properties of Core": 25,
        "two-way pairs of folders": 13,
    ])

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `the core comes apart and never grows together`() {
        let shape = CoreShape(tree.sources)
        print("The shape of the core:\n\(shape.text)")
        let report = Self.shape.report(now: shape.measures)
        #expect(report.isEmpty, "\(report) \(shape.pairNames) \(shape.recursive)")
    }

    /// Lines of Swift. A commit that raises a row says why.
    private static let lines = [
        "Sources": 102_150, "TomboloAPI": 5_920, "TomboloAPNs": 2_020, "TomboloContract": 1_270,
        "TomboloCore": 31_810, "TomboloCore/Machine": 8_530, "TomboloCrypto": 460,
        "TomboloEventLog": 470, "TomboloHTTP": 8_140, "TomboloJSON": 3_160, "TomboloLog": 7_370,
        "TomboloLoop": 1_070, "TomboloPostgres": 3_060, "TomboloRelay": 2_400,
        "TomboloSQLite": 1_190, "TomboloServer": 9_700, "TomboloSimulator": 6_770,
        "TomboloProgram": 17_480, "tombolo": 10,
    ]
    /// So many lines below its row a room may be, before the row is lowered.
    private static let linesFree = 150

    @Test func `each room keeps its length, and a row that is raised is seen`() {
        let now = CoreShape(tree.sources).lines
        let wrong = Set(now.keys).union(Self.lines.keys).filter { room in
            let (count, limit) = (now[room] ?? 0, Self.lines[room] ?? 0)
            return count > limit || count < limit - Self.linesFree
        }
        let table = now.sorted { $0.key < $1.key }.map {
            "\n    \"\($0.key)\": \(($0.value / 10 + 1) * 10),"
        }
        #expect(wrong.isEmpty, "\(wrong.sorted()); as they are:\(table.joined())")
    }
}

@Suite struct CoreShapeRuleTests {
    private func file(_ text: String, at path: String = "A.swift") -> SwiftFile {
        SwiftFile(path: "Sources/TomboloCore/" + path, text: text)
    }

    private func shape(_ text: String) -> [String: Int] {
        CoreShape([file(text)]).measures.filter {
            $0.value > 0 && $0.key != "files that extend Core"
        }
    }

    @Test func `stored properties are counted, and what is computed or of the type is not`() {
        let text = """
            struct Core {
                let a: Int
                var b = [1: { 2 }()]
                static let c = 3
                var d: Int { 4 }
                func e() { var f = 5 }
                struct G { var h: Int }
            }
            struct CoreSizes { var i = 6 }
            """
        #expect(shape(text) == ["stored properties of Core": 2])
    }

    @Test func `functions of Core are counted, also where they say effects or a bare place`() {
        let text = """
            extension Core {
                func a(_ slot: Int, effects: inout Effects) { evaluate(slot) }
                func b(at place: DeviceSlot) { func c() {} }
                var d: Int { 1 }
            }
            // extension Core {
            extension Core.Part { func e(index: Int) {} }
            extension CoreSizes { func f() { g.evaluate(2) } }
            """
        let expected = [
            "functions in extension Core": 2, "signatures with effects: inout": 1,
            "bare Int parameters": 2, "calls of evaluate": 2,
        ]
        #expect(shape(text) == expected)
    }

    @Test func `a circle of calls is found, and a namesake with other labels is none`() {
        let calls = CoreCalls([
            file(
                "struct Core { mutating func a(_ n: Int) { if n > 0 { b(at: n) } } }",
                at: "B.swift"),
            file(
                """
                extension Core {
                    func b(at n: Int, now: Int = 0) { c() }
                    func c() { self.a(1); other.d(); d(with: 2) }
                    func d() { c() }
                    func d(with n: Int) { text("d()") }
                }
                """),
        ])
        #expect(calls.recursive == ["a(_:)", "b(at:now:)", "c()"])
        #expect(Arrows(calls.files).largestCircle == 2)
    }

    @Test func `the fourth function of one name is one too many`() {
        let functions = { String(repeating: "func take(_ a: Int) {}\n", count: $0) }
        #expect(shape("extension Core {\n\(functions(3))}") == ["functions in extension Core": 3])
        #expect(
            shape("extension Core {\n\(functions(4))}") == [
                "functions in extension Core": 4, "functions beyond three of one name": 1,
            ])
    }

    @Test func `folders that use each other's types are a pair, by whatever file`() {
        let pairs = FolderPairs([
            file("struct A { var b: B }", at: "One/A.swift"),
            file("struct B {}", at: "Two/B.swift"),
            file("struct C { var a: A? }", at: "Two/C.swift"),
            file("enum D { case a(A), c(Two.C) }", at: "Three/D.swift"),
        ])
        #expect(pairs.arrows.twoWay == ["One and Two"])
        #expect(pairs.arrows.largestCircle == 2)
        #expect(pairs.arrows.arrows["Three"] == ["One"])
    }
}
