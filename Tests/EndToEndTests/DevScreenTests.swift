import Glibc
import Testing

@testable import tombolo

/// `tombolo dev` on a terminal, which `script` (Debian's bsdutils, always there) makes.
@Suite struct DevScreenTests {
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
            TerminalScreen.rows(lines, foot, atMost: 9) == ["a", "b", "c", "console", "export"])
        #expect(TerminalScreen.rows(lines, foot, atMost: 3) == ["a", "console", "export"])
        #expect(TerminalScreen.rows(lines, foot, atMost: 1) == ["export"])
    }
}
