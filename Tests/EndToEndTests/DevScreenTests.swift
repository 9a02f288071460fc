import Glibc
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// `tombolo dev` on a terminal, which `script` (Debian's bsdutils, always there) makes.
@Suite struct DevScreenTests {
    @Test(arguments: [
        ("abc", 3), ("扉", 2), ("🦊", 2), ("e\u{301}", 1), ("❤\u{fe0f}", 2), ("é한", 3), ("", 0),
    ])
    func `a text has the columns that a terminal gives it`(text: String, columns: Int) {
        #expect(Cells.width(text) == columns)
        #expect(Cells.prefix(text, columns) == text)
        #expect(Cells.width(Cells.prefix(text, columns - 1)) < max(1, columns))
    }

    @Test func `a key presses the first button of a card, or of a widget`() throws {
        let type = try ActivityType(
            reading: JSONDocument(
                Array(#"{"intents":[{"name":"Unlock","parameters":{"door":"/id","n":1}}]}"#.utf8)
            ).root)
        var keys = DevKeys(phones: 1)
        func pressed(_ page: String) throws -> DevKeys.Action {
            keys.press(UInt8(ascii: "b"), on: try json(page), intents: ["Door": type.intents])
        }
        let card = #""type":"Door","activity":"d","phase":"active","drawn_state":{"id":"7"}"#
        #expect(
            try pressed("{\"cards\":[{\(card)}]}")
                == .act(
                    #"{"do":"tap","activity":"d","intent":"Unlock","parameters":{"door":"7","n":1}}"#
                ))
        let widget = #""type":"Door","kind":"door","family":"systemLarge","config":"a,b""#
        #expect(
            try pressed(
                "{\"cards\":[],\"widgets\":[{\(widget),\"state\":{\"items\":[{\"id\":\"8\"}]}}]}")
                == .act(
                    #"{"do":"tap","widget":"door","family":"systemLarge","config":"a,b","#
                        + #""intent":"Unlock","parameters":{"door":"8","n":1}}"#))
        #expect(try pressed(#"{"cards":[{"type":"Other"}]}"#) == .nothing)
    }

    @Test func `on a terminal dev draws islands, and q gives the terminal back`() throws {
        let line = "\(Tombolo.path) dev --listen 127.0.0.1:0 --simulator 127.0.0.1:0"
        let home = try TemporaryDirectory()
        let process = try ChildProcess(
            ["-qfec", line, "/dev/null"], environment: ["TERM": "xterm", "TMPDIR": home.path],
            program: "/usr/bin/script"
        )
        let first = try process.line(within: RunningRelay.startTime)
        #expect(first.contains("\u{1B}[?1049h"))
        try process.write("q")
        let result = try process.finish(within: RunningRelay.stopTime)
        #expect(result.status == 0)
        #expect(result.output.contains("phone-3"))
        #expect(result.output.contains("export TOMBOLO_RELAY="))
        #expect(result.output.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test func `in a small window the foot stays, and its last line longest`() {
        let (lines, foot) = (["a", "b", "c"], ["console", "export"])
        #expect(
            TerminalScreen.rows(lines, foot, atMost: 9, columns: 80) == [
                "a", "b", "c", "console", "export",
            ])
        #expect(
            TerminalScreen.rows(lines, foot, atMost: 3, columns: 80) == ["a", "console", "export"])
        #expect(TerminalScreen.rows(lines, foot, atMost: 1, columns: 80) == ["export"])
        // On a narrow terminal "console" takes two rows, and nothing is lost at the top.
        #expect(
            TerminalScreen.rows(lines, foot, atMost: 4, columns: 6) == ["a", "console", "export"])
    }
}
