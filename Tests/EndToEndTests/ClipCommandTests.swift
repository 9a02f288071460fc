import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// Clips as somebody at a shell has them: packed, planned and played, and what a log of them would
/// have been under other grants.
@Suite(.serialized) struct ClipCommandTests {
    private static func start(_ dev: RunningRelay, _ id: String, _ state: String) throws {
        let result = try dev.tombolo(
            "start", id, "--type", "RunnerWidgetAttributes", "--device", "phone-1", "-s", state)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// As the readme has it: `tombolo clip pack cat-*.png | tombolo clip play cat-7 -`.
    @Test func `what pack prints is played from stdin`() throws {
        let dev = try RunningRelay()
        try Self.start(dev, "cat-7", "image=a")
        let pictures = (0..<5).map { "\(RunnerCatTests.examples)/runner/frame-\($0).png" }
        let packed = try dev.tombolo(["clip", "pack"] + pictures)
        #expect(packed.status == 0, "\(packed.errors)")
        for (command, status) in [("plan", 200), ("play", 201)] {
            let result = try dev.tombolo(
                "clip", command, "cat-7", "-", "-o", "json", input: packed.output)
            #expect(result.status == 0, "\(result.errors)")
            let view = try json(result.output)
            #expect(view["plan"]?["granted_fps"]?.double == 10, "\(status)")
            #expect(view["dry_run"]?.bool == (command == "plan" ? true : nil))
        }
        let show = try dev.tombolo("activity", "show", "cat-7", "-o", "json")
        let view = try json(show.output)
        #expect(view["clips"]?.elements.first { _ in true }?["playing"]?.bool == true)
        // Nothing, and no object.
        for (input, word) in [("", "stdin:1:1"), ("[1]", "stdin is not a JSON object")] {
            let result = try dev.tombolo("clip", "plan", "cat-7", "-", input: input)
            #expect(result.status == 2)
            #expect(result.errors.contains(word), "\(result.errors)")
        }
    }

    @Test func `a clip is stopped by its place, or wherever it plays, and once`() throws {
        let dev = try RunningRelay()
        try Self.start(dev, "door", "angle=0")
        let clip = #"{"tween":{"path":"/angle","from":0,"to":180,"duration":"60s"}}"#
        for place in [[], ["/angle"]] {
            let played = try dev.tombolo("clip", "play", "door", "-", input: clip)
            #expect(played.status == 0, "\(played.errors)")
            let other = try dev.tombolo("clip", "stop", "door", "/image")
            #expect(other.status == 3, "\(other.output)")
            #expect(other.errors.contains("no clip plays in door at /image"))
            let tried = try dev.tombolo(["clip", "stop", "door"] + place + ["--dry-run"])
            #expect(tried.output.contains(#""dry_run":true"#), "\(tried.output)")
            let stopped = try dev.tombolo(["clip", "stop", "door"] + place + ["-o", "json"])
            #expect(stopped.status == 0, "\(stopped.errors)")
            let again = try dev.tombolo(["clip", "stop", "door"] + place)
            #expect(again.status == 3, "\(again.output)")
        }
        let log = try dev.tombolo("log", "ls", "--activity", "door", "--do", "stop", "-o", "jsonl")
        #expect(log.output.split(separator: "\n").count == 2)
    }

    /// Counts of frames and pushes as the relay's books have them, of all its activities.
    private static func books(_ dev: RunningRelay) throws -> (asked: Int64, sent: Int64) {
        let list = try dev.tombolo("activity", "ls", "-o", "jsonl")
        var (asked, sent): (Int64, Int64) = (0, 0)
        for line in list.output.split(separator: "\n") {
            let view = try json(line)
            for destination in view["destinations"].map({ Array($0.elements) }) ?? [] {
                asked += destination["frames"]?["asked"]?.integer ?? 0
                sent += destination["frames"]?["sent"]?.integer ?? 0
            }
        }
        return (asked, sent)
    }

    @Test func `under its own grants a log comes to what the relay did`() throws {
        let work = try TemporaryDirectory()
        let dev = try RunningRelay(dev: ["--data", work.path])
        for scenario in ["runner", "radial"] {
            let result = try dev.tombolo("trigger", scenario, "--for", "3s", "-o", "json")
            #expect(result.status == 0, "\(result.errors)")
        }
        let (asked, sent) = try Self.books(dev)
        #expect(asked > 90, "three phones, ten a second, and the turns")
        // While it runs, and with the grants of `dev`: it starts more cards than a phone allows.
        let result = try Tombolo.run(
            "budget", "simulate", "--data", work.path, "-o", "json", "--class", "standard")
        #expect(result.status == 0, "\(result.errors)")
        let view = try json(result.output)
        let own = try #require(view["configured"])
        #expect(own["budgets"]?["start"]?["burst"]?.integer == DevWorkplace.starts)
        #expect(own["events"]?["waiting"]?.integer == 0)
        let frames = try #require(own["frames"])
        #expect(abs((frames["asked"]?.integer ?? 0) - asked) <= 3, "\(frames.json), not \(asked)")
        // A busy machine is late with some.
        #expect((frames["sent"]?.integer ?? 0) >= sent - 1)
        #expect((frames["sent"]?.integer ?? 0) <= sent + asked / 5)
        let standard = try #require(view["simulated"]?["frames"]?["sent"]?.integer)
        #expect(standard < sent / 2, "no lab any more")
    }
}
