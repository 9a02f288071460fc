import Testing
import TomboloJSON

@testable import tombolo

@Suite struct TextTableTests {
    @Test func `columns are as wide as their widest cell`() {
        var table = TextTable(["A", "BB"])
        table.add(["long", "x"])
        table.add(["s", "y"])
        let text = table.text(isForPeople: false, usesColor: false)
        #expect(text == "A     BB\nlong  x\ns     y\n")
    }

    @Test func `a column shows the first member that is there, and says what a null means`() throws
    {
        let row = try JSONDocument(Array(#"{"a":null,"b":{"c":3},"d":null}"#.utf8)).root
        #expect(Column("A", "a", none: "no limit").text(of: row) == "no limit")
        #expect(Column("C", "x", "b.c").text(of: row) == "3")
        #expect(Column("D", "d.left", none: "no limit").text(of: row) == "no limit")
        #expect(Column("X", "x", none: "no limit").text(of: row) == "")
        let plain: Column = "b.c"
        #expect(plain.title == "B.C" && plain.text(of: row) == "3")
    }

    @Test func `below a table of destinations each reason to wait is said once`() throws {
        let rows = try JSONDocument(
            Array(
                """
                [{"device":"a","waiting":{"reason":"bucket","reason_text":"It is spent."}},
                {"device":"b"},{"device":"c","waiting":{"reason":"bucket",
                "reason_text":"It is spent."}},{"channel":"d","waiting":{"reason":"new"}}]
                """.utf8)
        ).root.elements
        #expect(
            ActivityReport.reasons(Array(rows))
                == "\na and 1 more wait: It is spent.\n\nd waits: new\n")
        #expect(ActivityReport.reasons([]).isEmpty)
    }

    @Test func `off a terminal cells are whole, and move no cursor either`() {
        var table = TextTable(["A"])
        table.add([String(repeating: "x", count: 61) + "\u{1B}[2J\u{202E}evil\n\t"])
        let lines = table.text(isForPeople: false, usesColor: false).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.hasSuffix("x?[2J?evil??") == true && lines.last?.count == 72)
    }

    @Test func `lines for people keep their ends and nothing else that is no letter`() {
        #expect(Printable.lines("a\n  é\u{1B}[31m\r\u{9B}\u{7F}\n") == "a\n  é?[31m???\n")
        #expect(Printable.line("a\nb\u{2028}c") == "a?b?c")
    }

    @Test func `on a terminal no cell moves the cursor or fills the line`() {
        var table = TextTable(["A"])
        table.add(["\u{1B}[2Jevil\u{07}"])
        table.add([String(repeating: "x", count: 61)])
        table.add([String(repeating: "y", count: 60)])
        let lines = table.text(isForPeople: true, usesColor: false).split(separator: "\n")
        #expect(!lines[1].unicodeScalars.contains { $0.value < 0x20 })
        #expect(lines[2].count == 60)
        #expect(lines[2].hasSuffix("…"))
        #expect(!lines[3].hasSuffix("…"))
    }
}
