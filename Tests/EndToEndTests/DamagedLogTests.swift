import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// A relay on a log of which a part is damaged, and a damaged copy. The real program.
@Suite struct DamagedLogTests {
    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private var data: String { "\(work.path)/data" }

    /// Changes a letter of `mark` wherever the file has it.
    private func damage(_ path: String, at mark: String) throws {
        var bytes = try FileBytes.read(path)
        let wanted = Array(mark.utf8)
        var count = 0
        for place in bytes.indices
        where bytes[place] == wanted[0] && bytes[place...].starts(with: wanted) {
            bytes[place] ^= 2
            count += 1
        }
        #expect(count > 0, "\(mark) is in \(path)")
        try FileBytes.write(bytes, to: path)
    }

    /// A closed log with the activities cat and dog.
    private func filled() throws -> String {
        let relay = try RunningRelay(serve: data)
        for id in ["cat", "dog"] {
            let started = try relay.tombolo("start", id, "--type", "T", "-s", "mark=qq\(id)qq")
            #expect(started.status == 0, "\(started.errors)")
        }
        #expect(try relay.terminate() == 0)
        return relay.key
    }

    @Test func `a damaged activity is shown with the reason, and all others are served`() throws {
        let key = try filled()
        try damage("\(data)/tombolo.db", at: "qqcatqq")
        let verified = try Tombolo.run(["log", "verify", "--data", data])
        #expect(verified.status == 1)
        #expect(verified.output.contains("the head of activity cat of main (number 1): its row"))

        let relay = try RunningRelay(serve: data, key: key)
        let shown = try json(try relay.tombolo("activity", "show", "cat", "-o", "json").output)
        #expect(shown["status"]?.string == "damaged")
        #expect(shown["damage"]?.string?.contains("damaged") == true)
        let list = try json(try relay.tombolo("activity", "ls", "-o", "json").output)
        #expect(list["activities"]?.count == 2)
        #expect(try relay.tombolo("update", "dog", "-s", "mark=2").status == 0)
        let refused = try relay.tombolo("update", "cat", "-s", "mark=2")
        #expect(refused.status != 0)
        #expect(refused.errors.contains("damaged"), "\(refused.errors)")
        #expect(try relay.tombolo("start", "cat", "--type", "T", "-s", "mark=3").status != 0)
        let again = try relay.tombolo("start", "cat", "--type", "T", "-s", "mark=3", "--restart")
        #expect(again.status == 0, "\(again.errors)")
        relay.process.signal(SIGTERM)
        let ended = try relay.process.finish(within: RunningRelay.stopTime)
        #expect(ended.errors.contains("activity cat of main (number 1) is damaged"))

        let next = try RunningRelay(serve: data, key: key)
        let shownAgain = try json(try next.tombolo("activity", "show", "cat", "-o", "json").output)
        #expect(shownAgain["status"]?.string == "waiting")
        _ = try next.terminate()
    }

    @Test func `a damaged copy is not restored, unless somebody insists`() throws {
        _ = try filled()
        let copy = "\(work.path)/copy"
        #expect(try Tombolo.run("backup", "create", copy, "--data", data).status == 0)
        try damage("\(copy)/tombolo.db", at: "qqdogqq")
        let target = "\(work.path)/restored"
        let refused = try Tombolo.run("backup", "restore", copy, "--data", target)
        #expect(refused.status == 3)
        #expect(refused.errors.contains("is damaged"), "\(refused.errors)")
        #expect(access("\(target)/tombolo.db", F_OK) != 0, "nothing was put there")
        let taken = try Tombolo.run("backup", "restore", copy, "--data", target, "--damaged")
        #expect(taken.status == 0, "\(taken.errors)")
    }

    /// GETs a path of the relay as a producer would.
    private func get(_ relay: RunningRelay, _ path: String) throws -> String {
        try Shell.run([
            "curl", "-s", "-H", "Authorization: Bearer \(relay.key)", relay.api + path,
        ]).output
    }

    @Test func `an event that cannot be read is missing out loud, wherever somebody looks`()
        throws
    {
        let first = try RunningRelay(serve: data)
        for words in [
            ["start", "cat", "--type", "T", "-s", "lap=1"], ["update", "cat", "-s", "lap=qqtwoqq"],
            ["update", "cat", "-s", "lap=3"], ["start", "dog", "--type", "T", "-s", "lap=1"],
        ] {
            #expect(try first.tombolo(words).status == 0)
        }
        #expect(try first.terminate() == 0)
        try damage("\(data)/tombolo.db", at: "qqtwoqq")

        let title = "event 2 of main (row 2, activity cat of main (number 1)): its row is damaged"
        let verified = try Tombolo.run(["log", "verify", "--data", data])
        #expect(verified.output.contains(title), "\(verified.output)")
        let backup = try Tombolo.run("backup", "create", "\(work.path)/copy", "--data", data)
        #expect(backup.status == 6)
        #expect(backup.errors.contains(title), "\(backup.errors)")
        #expect(access("\(work.path)/copy/tombolo.db", F_OK) == 0, "it is made all the same")

        let relay = try RunningRelay(serve: data, key: first.key)
        #expect(try json(get(relay, "/v1/activities/cat"))["state"]?["lap"]?.integer == 3)
        #expect(try json(get(relay, "/v1/activities/cat?at_seq=1"))["version"]?.integer == 1)
        for path in ["/v1/activities/cat?at_seq=2", "/v1/activities/cat?at_seq=4", "/v1/log/2"] {
            let problem = try json(get(relay, path))
            #expect(problem["code"]?.string == "event-damaged", "\(path)")
            #expect(problem["detail"]?.string?.contains("tombolo log verify") == true)
        }
        #expect(try json(get(relay, "/v1/activities/dog?at_seq=4"))["version"]?.integer == 1)
        let list = try relay.tombolo("log", "ls", "-o", "json")
        #expect(list.status == 6)
        #expect(list.errors.contains("The row of event 2 is damaged"), "\(list.errors)")
        let page = try json(get(relay, "/v1/log"))
        #expect(page["damaged"]?.elements.map { $0["first"]?.integer } == [2])
        let tail = try relay.tombolo("tail", "--since", "0", "--limit", "3", "-o", "jsonl")
        #expect(tail.output.contains(#""seq":2,"damaged":true"#), "\(tail.output)")
        #expect(try get(relay, "/metrics").contains("tombolo_damaged_rows 1"))
        #expect(try get(relay, "/v1/overview").contains(#""code":"log_damaged""#))
        relay.process.signal(SIGTERM)
        let ended = try relay.process.finish(within: RunningRelay.stopTime)
        #expect(ended.errors.contains("warning damage: event 2 of main (row 2"), "\(ended.errors)")
    }

    @Test func `what two processes trapped over is left out by the third`() throws {
        let key = try filled()
        // What a handler writes: the program that trapped, over activity 1, by SIGILL.
        let path = "\(data)/tombolo.crashes"
        for round in 1...3 {
            let relay = try RunningRelay(serve: data, key: key)
            let shown = try json(try relay.tombolo("activity", "show", "cat", "-o", "json").output)
            let other = try json(try relay.tombolo("activity", "show", "dog", "-o", "json").output)
            #expect(other["status"]?.string == "waiting")
            #expect(shown["status"]?.string == (round < 3 ? "waiting" : "damaged"))
            if round == 3 { #expect(shown["damage"]?.string?.contains("crashed 2 times") == true) }
            try relay.kill()
            var page = try FileBytes.read(path)
            let trap: [UInt8] = [4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x7f, 0]
            page.replaceSubrange(16..<32, with: trap)
            try FileBytes.write(page, to: path)
        }
    }
}
