import Testing
import TomboloJSON

@testable import TomboloProgram

/// What a producer does at a shell, against a real relay.
@Suite(.serialized) struct ProducerTests {
    private let directory: TemporaryDirectory
    private let relay: RunningRelay

    init() throws {
        directory = try TemporaryDirectory()
        relay = try RunningRelay(serve: directory.path)
    }

    @Test func `start, update and end lead to versions, and every change is in the log`() throws {
        let start = try relay.tombolo(
            "start", "cat-7", "--type", "Any", "-s", "lap=1/5", "-s", "n=1e3", "-s", "on=true")
        #expect(start.status == 0, "\(start.errors)")
        #expect(try json(start.output)["version"]?.integer == 1)
        let update = try relay.tombolo("update", "cat-7", input: "{\"lap\":\"2/5\"}")
        #expect(try json(update.output)["version"]?.integer == 2)
        let end = try relay.tombolo("end", "cat-7", "--dismiss", "now")
        #expect(try json(end.output)["status"]?.string == "ended")
        let shown = try relay.tombolo("activity", "show", "cat-7", "-o", "json")
        let state = try json(shown.output)["state"].map { String(decoding: $0.raw, as: UTF8.self) }
        #expect(state == "{\"lap\":\"2/5\",\"n\":1e3,\"on\":true}")
        let log = try relay.tombolo("log", "ls", "-o", "jsonl").output.split(separator: "\n")
        #expect(try log.map { try json(String($0))["do"]?.string } == ["start", "update", "end"])
        let second = try relay.tombolo("log", "show", "2")
        #expect(try json(second.output)["do"]?.string == "update")
    }

    @Test func `every command that changes something can be tried first`() throws {
        let state = try directory.write("type.json", #"{"state":{}}"#)
        let clip = try directory.write(
            "clip.json", #"{"tween":{"path":"/angle","from":0,"to":180,"duration":"2s"}}"#)
        #expect(try relay.tombolo("start", "door", "--type", "Any", "-s", "angle=0").status == 0)
        #expect(
            try relay.tombolo("start", "old", "--type", "Any", "--device", "phone-1", "-s", "n=1")
                .status == 0)
        #expect(try relay.tombolo("end", "old").status == 0)
        #expect(try relay.tombolo("pause", "--type", "Any").status == 0)
        let lines = #"{"activity":"new","do":"start","type":"Any","state":{}}"#
        let minted = try relay.tombolo("key", "mint", "--scope", "observe", "-o", "json")
        let id = try #require(try json(minted.output)["id"]?.string)
        let commands: [(words: [String], input: String)] = [
            (["start", "new", "--type", "Any", "-s", "n=1"], ""),
            (["update", "door", "-s", "angle=9"], ""), (["end", "door"], ""),
            (["end", "--type", "Any"], ""), (["append", "-o", "jsonl"], lines),
            (["clip", "play", "door", clip], ""),
            (["pause", "--all"], ""), (["resume", "--all"], ""), (["dead", "retry", "--all"], ""),
            (["erase", "activity", "old"], ""), (["erase", "device", "phone-1"], ""),
            (["key", "mint", "--scope", "observe"], ""), (["key", "rotate", id], ""),
            (["key", "rm", id], ""), (["config", "reload"], ""),
        ]
        func standing() throws -> String {
            let asked = [["log", "ls"], ["pause"], ["activity", "ls"]]
            return try asked.map { try relay.tombolo($0).output }.joined()
        }
        let before = try standing()
        for (words, input) in commands {
            let tried = try relay.tombolo(words + ["--dry-run"], input: input)
            #expect(tried.status == 0, "\(words): \(tried.errors)")
            #expect(tried.output.contains(#""dry_run":true"#), "\(words): \(tried.output)")
            #expect(try standing() == before, "\(words)")
        }
        let told = try relay.tombolo("update", "door", "-s", "angle=9", "--dry-run", "-o", "table")
        #expect(told.output.contains("door: would be version 2"))
        let many = try relay.tombolo("end", "--type", "Any", "--dry-run", "-o", "table")
        #expect(many.output == "1 would end (a dry run: nothing was stored)\n  door: version 2\n")
        let mint = try relay.tombolo(
            "key", "mint", "--scope", "observe", "--data", directory.path, "--dry-run")
        #expect(mint.status == 2)
        let type = try relay.tombolo("type", "put", "Any", state, "--dry-run")
        #expect(type.errors.contains("no app is configured"), "refused as without: \(type.errors)")
        // This relay has no app, and so no types, channels, phones and deliveries: other tests do.
        let elsewhere = [
            "channel put", "channel rm", "type put", "clip stop", "timeline put", "timeline rm",
            "timeline reload",
            "control reload", "delivery retry", "upstream retry",
        ]
        let names = Set(commands.map { $0.words.prefix(2).joined(separator: " ") })
        for command in CommandTable.tombolo.commands
        where command.flags.contains(where: { $0.name == "dry-run" }) {
            let isRun = names.contains { ($0 + " ").hasPrefix(command.name + " ") }
            let isElsewhere = elsewhere.contains(command.name) || command.path[0] == "phone"
            #expect(isRun || isElsewhere, "\(command.name)")
        }
    }

    @Test func `conditions, conflicts and unknown ids exit with 3, wrong fields with 1`() throws {
        let start = ["start", "cat-7", "--type", "Any", "-s", "lap=1"]
        #expect(try Tombolo.run(start, environment: relay.environment).status == 0)
        let again = try relay.tombolo("start", "cat-7", "--type", "Any", "-s", "lap=2")
        #expect(again.status == 3)
        #expect(again.errors.contains("try: tombolo update cat-7"))
        #expect(try relay.tombolo("start", "cat-7", "--type", "Any", "--if-new").status == 3)
        #expect(try relay.tombolo("update", "cat-7", "-s", "a=1", "--if-match", "v9").status == 3)
        #expect(try relay.tombolo("update", "cat-8", "-s", "a=1").status == 3)
        #expect(try relay.tombolo("activity", "show", "cat-8").status == 3)
        #expect(try relay.tombolo("log", "show", "99").status == 3)
        #expect(try relay.tombolo("end", "cat-7", "--dismiss", "soon").status == 1)
        let large = String(repeating: "x", count: 5_000)
        let tooLarge = try relay.tombolo("update", "cat-7", "-s", "image=\(large)")
        #expect(tooLarge.status == 1)
        #expect(tooLarge.errors.contains("than the 4096"))
        let log = try relay.tombolo("log", "ls").output
        #expect(log.split(separator: "\n").count == 1)
    }

    @Test func `no key, a wrong key and a key without the scope exit with 4`() throws {
        let nobody = ["TOMBOLO_RELAY": relay.api]
        #expect(try Tombolo.run(["activity", "ls"], environment: nobody).status == 4)
        let wrong = try Tombolo.run(["activity", "ls", "--key", "tmb_x"], environment: nobody)
        #expect(wrong.status == 4)
        #expect(wrong.errors.contains("TOMBOLO_KEY"))
        let minted = try relay.tombolo("key", "mint", "--scope", "observe", "-o", "json")
        let key = try #require(try json(minted.output)["key"]?.string)
        let observer = ["TOMBOLO_RELAY": relay.api, "TOMBOLO_KEY": key]
        #expect(try Tombolo.run(["activity", "ls"], environment: observer).status == 0)
        let start = ["start", "a", "--type", "T", "-s", "x=1"]
        #expect(try Tombolo.run(start, environment: observer).status == 4)
        let path = try directory.write("key", "\(key)\n")
        let file = ["TOMBOLO_RELAY": relay.api, "TOMBOLO_KEY_FILE": path]
        #expect(try Tombolo.run(["activity", "ls"], environment: file).status == 0)
    }

    @Test func `append answers line by line in order, and exits with 6 where some are refused`()
        throws
    {
        let lines = """
            {"id":"e1","activity":"cat-8","do":"start","type":"Any","state":{"lap":"1/5"}}
            {"id":"e2","activity":"cat-9","do":"update","state":{"lap":"1/5"}}
            no json
            {"id":"e3","activity":"cat-8","do":"update","state":{"lap":"2/5"}}
            """
        let result = try relay.tombolo("append", "-", "-o", "jsonl", input: lines)
        #expect(result.status == 6)
        let answers = try result.output.split(separator: "\n").map { try json(String($0)) }
        #expect(answers.map { $0["ok"]?.bool } == [true, false, false, true])
        #expect(answers[1]["problem"]?["code"]?.string == "unknown-activity")
        #expect(result.errors.contains("line 2 (e2)"))
        #expect(result.errors.contains("line 3:"))
        let again = try relay.tombolo("append", "-o", "json", input: lines)
        #expect(again.output == "{\"lines\":4,\"taken\":2,\"refused\":2}\n")
        #expect(try relay.tombolo("log", "ls").output.split(separator: "\n").count == 2)
    }

    @Test func `append takes lines that trickle, and a last one without a line break`() throws {
        let process = try ChildProcess(["append", "-"], environment: relay.environment)
        try process.write(
            "{\"activity\":\"a\",\"do\":\"start\",\"type\":\"Any\",\"state\":{}}\n{\"act")
        let first = try process.line(within: 20)
        #expect(try json(first)["ok"]?.bool == true)
        try process.write("ivity\":\"a\",\"do\":\"update\",\"state\":{\"n\":1}}\n")
        let second = try process.line(within: 20)
        #expect(try json(second)["version"]?.integer == 2)
        try process.write("no json")
        process.closeInput()
        // Each pause begins another request, and the lines are counted through.
        let third = try process.line(within: 20)
        #expect(try json(third)["line"]?.integer == 3)
        #expect(try process.finish(within: 20).status == 6)
    }

    @Test func `tail prints history and then what comes`() throws {
        _ = try relay.tombolo("start", "cat-7", "--type", "Any", "-s", "lap=1")
        let tail = try ChildProcess(
            ["tail", "--since", "0", "--limit", "2"], environment: relay.environment)
        let first = try tail.line(within: 20)
        #expect(try json(first)["do"]?.string == "start")
        _ = try relay.tombolo("update", "cat-7", "-s", "lap=2")
        let second = try tail.line(within: 20)
        #expect(try json(second)["do"]?.string == "update")
        #expect(try tail.finish(within: 20).status == 0)
    }

    @Test func `lists are read page by page, and tables have a row for each`() throws {
        let lines = (0..<2_500).map {
            "{\"activity\":\"a\($0)\",\"do\":\"start\",\"type\":\"Any\",\"state\":{}}\n"
        }
        #expect(try relay.tombolo("append", "-o", "json", input: lines.joined()).status == 0)
        let all = try relay.tombolo("log", "ls", "--limit", "2300", "-o", "jsonl")
        #expect(all.output.split(separator: "\n").count == 2_300)
        let activities = try relay.tombolo("activity", "ls", "-o", "table")
        #expect(activities.output.split(separator: "\n").count == 2_501)
    }
}
