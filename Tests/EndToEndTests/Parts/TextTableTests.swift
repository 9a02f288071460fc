import Testing
import TomboloJSON

@testable import TomboloProgram

@Suite struct TextTableTests {
    @Test func `columns are as wide as their widest cell`() {
        let table = TextTable(["A", "BB"], [["long", "x"], ["s", "y"]])
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
        let cell = String(repeating: "x", count: 61) + "\u{1B}[2J\u{202E}evil\n\t"
        let table = TextTable(["A"], [[cell]])
        let lines = table.text(isForPeople: false, usesColor: false).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.hasSuffix("x?[2J?evil??") == true && lines.last?.count == 72)
    }

    @Test func `lines for people keep their ends and nothing else that is no letter`() {
        #expect(Printable.lines("a\n  é\u{1B}[31m\r\u{9B}\u{7F}\n") == "a\n  é?[31m???\n")
        #expect(Printable.line("a\nb\u{2028}c") == "a?b?c")
    }

    @Test(arguments: [
        (#"{"a":"\u81ea\u5df1"}"#, #"{"a":"自己"}"#), (#""\ud83d\udc69\u200D\ud83d\ude80""#, "\"👩‍🚀\""),
        (#""\u0022\u005C\\u81ea\n""#, #""\u0022\u005C\\u81ea\n""#),
        (#""\u001b\u202e\u2028\u009b""#, #""\u001b\u202e\u2028\u009b""#), ("-0.0", "-0.0"),
    ])
    func `JSON for people has the characters, and escapes of what is none`(
        _ raw: String, _ shown: String
    ) {
        #expect(Printable.line(Printable.json(Array(raw.utf8))) == shown)
    }

    @Test func `an emoji of several stays one, and a joiner anywhere else is none`() {
        for emoji in ["👩‍🚀", "👩🏽‍🚀", "❤️‍🔥", "👨‍👩‍👧", "🏳️‍🌈"] {
            #expect(Printable.line(emoji) == emoji)
            #expect(Cells.width(emoji) == 2, "\(emoji)")
        }
        #expect(Printable.line("a\u{200D}b👩\u{200D}c\u{200D}") == "a?b👩?c?")
    }

    @Test func `columns are as wide as their cells are on a terminal`() {
        let long = String(repeating: "自", count: 31)
        let table = TextTable(["A", "B"], [["自己", "x"], ["👩‍🚀", "y"], [long, "z"]])
        let text = table.text(isForPeople: true, usesColor: false).split(separator: "\n")
        #expect(text[1] == "自己" + String(repeating: " ", count: 57) + "x")
        #expect(text[2] == "👩‍🚀" + String(repeating: " ", count: 59) + "y")
        #expect(text[3] == String(repeating: "自", count: 29) + "…  z")
    }

    @Test func `on a terminal no cell moves the cursor or fills the line`() {
        let long = [String(repeating: "x", count: 61), String(repeating: "y", count: 60)]
        let table = TextTable(["A"], [["\u{1B}[2Jevil\u{07}"], [long[0]], [long[1]]])
        let lines = table.text(isForPeople: true, usesColor: false).split(separator: "\n")
        #expect(!lines[1].unicodeScalars.contains { $0.value < 0x20 })
        #expect(lines[2].count == 60)
        #expect(lines[2].hasSuffix("…"))
        #expect(!lines[3].hasSuffix("…"))
    }
}
