import Glibc
import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloProgram

/// What a relay says on stderr, as an operator reads it and as a program does.
@Suite(.serialized) struct OperatorLogTests {
    private let time = Instant(seconds: 1_795_000_000)

    private func line(_ note: OperatorNote, _ format: OperatorLogFormat) -> String {
        String(decoding: OperatorLog.line(note, at: time, format), as: UTF8.self)
    }

    @Test func `a clock that is past what can be counted stays at the end`() {
        let time = timespec(tv_sec: 9_900_000_000, tv_nsec: 999_999_999)
        #expect(SystemClock.instant(time) == .distantFuture)
        #expect(SystemClock.instant(timespec(tv_sec: 1, tv_nsec: 5)).nanoseconds == 1_000_000_005)
    }

    @Test func `a note is one line with its time, level, event, values and remedy`() throws {
        let note = OperatorNote(.warning, .upstreamClosed, "pushes wait", remedy: "tombolo doctor")
            .adding("app", "com.example.app").adding("who", "a \"b\"").adding("none", nil)
        #expect(
            line(note, .text)
                == "2026-11-18T11:06:40.000Z warning upstream-closed: pushes wait "
                + #"app=com.example.app who="a \"b\""; try: tombolo doctor"#)
        let json = try JSONDocument(Array(line(note, .json).utf8)).root
        #expect(json["time"]?.string == "2026-11-18T11:06:40.000Z")
        #expect(json["level"]?.string == "warning")
        #expect(json["event"]?.string == "upstream-closed")
        #expect(json["message"]?.string == "pushes wait")
        #expect(json["app"]?.string == "com.example.app")
        #expect(json["try"]?.string == "tombolo doctor")
    }

    @Test func `what strangers send makes no second line and moves no cursor`() {
        let note = OperatorNote(.info, .requestRefused, "a\nb\u{1B}[2J\u{202E}c")
            .adding("value", "x\ny\u{9B}")
        let text = line(note, .text)
        #expect(text.hasSuffix(#"a b\u{1b}[2J\u{202e}c value="x\ny\u{9b}""#), "\(text)")
        #expect(!line(note, .json).utf8.contains(10))
        #expect(!line(note, .json).utf8.contains(0x1B))
    }

    @Test(arguments: [OperatorLogFormat.text, .json])
    func `no text of a stranger is live in a line, or makes it long`(_ format: OperatorLogFormat)
        throws
    {
        let live =
            (0...0xA0).map { UInt32($0) }
            + [0x61C, 0x200E, 0x200F] + Array(0x2028...0x202E) + Array(0x2066...0x2069)
        let all = String(String.UnicodeScalarView(live.compactMap(UnicodeScalar.init)))
        // Long as one character to a reader, and as one plain word.
        for text in [all, "e" + String(repeating: "\u{301}", count: 60_000)]
            + [String(repeating: "x", count: 60_000)]
        {
            let note = OperatorNote(.info, .requestRefused, text, remedy: text)
                .adding("value", text)
            let line = line(note, format)
            #expect(line.utf8.count < 20_000)
            for scalar in line.unicodeScalars {
                let isLive = live.contains(scalar.value) && !(0x20..<0x7F).contains(scalar.value)
                #expect(!isLive || scalar.value == 0xA0, "\(scalar.value)")
            }
            guard format == .json else { continue }
            let view = try JSONDocument(Array(line.utf8)).root
            let begin = String(String.UnicodeScalarView(text.unicodeScalars.prefix(2_000)))
            #expect(view["message"]?.string == begin)
            #expect(view["value"]?.string == begin)
        }
    }

    @Test func `a start, a stop and a refusal are a line each, and the trace id is in it`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path)
        let started = try relay.process.errorLine(containing: " started: ", within: 30)
        #expect(started.contains("the relay takes requests at \(relay.api), for 0 apps"))
        let refused = try Shell.run(
            "curl", "-s", "-H", "authorization: Bearer \(relay.key)",
            "\(relay.api)/v1/activities/none")
        let trace = try JSONDocument(Array(refused.output.utf8)).root["trace_id"]?.string
        let line = try relay.process.errorLine(containing: "request-refused", within: 30)
        #expect(line.contains("showActivity is refused: 404 unknown-activity"), "\(line)")
        #expect(line.contains(" trace_id=\(trace ?? "?") "), "\(line)")
        #expect(line.contains(" tenant=main ") && line.contains(" key="))
        #expect(!line.contains(relay.key))
        relay.process.signal(SIGTERM)
        let ended = try relay.process.finish(within: RunningRelay.stopTime)
        #expect(ended.errors.contains(" info    stopped: the relay has ended by SIGTERM, after "))
        #expect(ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
    }

    @Test func `--log json makes each line an object, also the last of a start that fails`() throws
    {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path, arguments: ["--log", "json"])
        let address = String(relay.api.dropFirst("http://".count))
        let other = try Tombolo.run(
            "serve", "--data", directory.path, "--listen", address, "--log", "json")
        relay.process.signal(SIGTERM)
        let ended = try relay.process.finish(within: RunningRelay.stopTime)
        let lines = (ended.errors + other.errors).split(separator: "\n")
        let events = try lines.map { line in
            let view = try JSONDocument(Array(line.utf8)).root
            #expect(view["time"]?.string.flatMap { Instant(rfc3339: $0) } != nil)
            return "\(view["level"]?.string ?? "") \(view["event"]?.string ?? "")"
        }
        #expect(
            events == [
                "warning config-notice", "info started", "info stopped", "warning config-notice",
                "error stopped",
            ])
        #expect(other.status == 3)
    }
}
