import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// `log`, `backup` and `bench` on files, as somebody at a shell uses them. The real program, no
/// relay.
@Suite struct LogCommandTests {
    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    /// A log of 400 events of 20 activities.
    private func filled(_ name: String = "data") throws -> String {
        let data = "\(work.path)/\(name)"
        let words = "--count 400 --batch 50 --activities 20 --ids -o json"
        let result = try Tombolo.run(
            ["append", "--data", data] + words.split(separator: " ").map(String.init),
            program: Tombolo.bench)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try json(result.output)["events"]?.integer == 400)
        return data
    }

    @Test func `a log that the bench wrote is sound, and replays`() throws {
        let data = try filled()
        let verified = try Tombolo.run(["log", "verify", "--data", data, "-o", "json"])
        #expect(verified.status == 0)
        let verdict = try json(verified.output)
        #expect(verdict["ok"]?.bool == true)
        #expect(verdict["events"]?.integer == 400)
        #expect(verdict["heads"]?.integer == 20)
        let replayed = try Tombolo.run(
            ["replay", "--data", data, "-o", "json"], program: Tombolo.bench)
        #expect(try json(replayed.output)["broken"]?.integer == 0)
    }

    @Test func `a flipped bit is found, and named`() throws {
        let data = try filled()
        let path = data + "/tombolo.db"
        var bytes = try FileBytes.read(path)
        // The state of an event in the middle: a 12-digit number of the bench.
        let mark = Array("000000000123\",\"pad\"".utf8)
        let place = try #require(
            bytes.indices.first { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) })
        bytes[place] ^= 1
        try FileBytes.write(bytes, to: path)
        let result = try Tombolo.run(["log", "verify", "--data", data, "-o", "json"])
        #expect(result.status == 1)
        #expect(try json(result.output)["wrong"]?.count != 0)
    }

    @Test func `a log is replayed under other grants, and a wrong grant is told`() throws {
        let data = try filled()
        let line = ["budget", "simulate", "--data", data]
        let result = try Tombolo.run(
            line + ["--grant", "standard.per_hour=30", "--class", "frequent", "-o", "json"])
        #expect(result.status == 0, "\(result.errors)")
        let report = try json(result.output)
        #expect(report["events"]?.integer == 400)
        #expect(report["activities"]?.integer == 20)
        let simulated = report["simulated"]
        #expect(simulated?["budgets"]?["standard"]?["per_hour"]?.double == 30)
        #expect(report["configured"]?["budgets"]?["standard"]?["per_hour"]?.double == 10)
        let wrong = try Tombolo.run(line + ["--grant", "standrd.per_hour=30"])
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("did you mean \"standard\"?"))
        #expect(try Tombolo.run(line + ["--speed", "0"]).status == 2)
        #expect(try Tombolo.run(line + ["--activity", "nobody"]).status == 3)
    }

    @Test func `an export makes the same log again, byte for byte`() throws {
        let data = try filled()
        let lines = try Tombolo.run(["log", "export", "--data", data])
        #expect(lines.status == 0)
        let copy = "\(work.path)/copy"
        let taken = try Tombolo.run(["log", "import", "--data", copy], input: lines.output)
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try Tombolo.run(["log", "verify", "--data", copy]).status == 0)
        #expect(try Tombolo.run(["log", "export", "--data", copy]).output == lines.output)
        let again = try Tombolo.run(["log", "import", "--data", copy], input: lines.output)
        #expect(again.status == 3)
        #expect(again.errors.contains("there is a log in \(copy) already"))
    }

    @Test func `a tail, a cursor and a key go on in a log that was exported and taken in`() throws {
        let (data, copy) = ("\(work.path)/data", "\(work.path)/copy")
        let key = try RunningRelay.mintKey(data)
        let start =
            #"{"activity":"cat","do":"start","type":"T","state":{"x":1},"id":"k1"}"#
        func update(_ x: Int) -> String {
            #"{"activity":"cat","do":"update","state":{"x":\#(x)},"id":"u\#(x)"}"#
        }
        let old = try RunningRelay(serve: data, key: key)
        let first = try old.tombolo("append", "-", "-o", "jsonl", input: start + "\n" + update(2))
        #expect(first.status == 0, "\(first)")
        let line = try old.tombolo(
            "tail", "--since", "0", "--kind", "command", "--limit", "1", "-o", "jsonl")
        let cursor = try #require(try json(line.output)["cursor"]?.string)
        #expect(try old.terminate() == 0)

        let lines = try Tombolo.run(["log", "export", "--data", data])
        let taken = try Tombolo.run(["log", "import", "--data", copy], input: lines.output)
        #expect(taken.status == 0, "\(taken.errors)")
        try FileBytes.write(try FileBytes.read(data + "/pepper"), to: copy + "/pepper")
        let new = try RunningRelay(serve: copy, key: key)
        // The same request has the same answer, and is stored once.
        let again = try new.tombolo("append", "-", "-o", "jsonl", input: start + "\n" + update(3))
        #expect(again.status == 0, "\(again)")
        #expect(again.output.contains(#""seq":1,"version":1,"replayed":true}"#), "\(again)")
        let rest = try new.tombolo(
            "tail", "--cursor", cursor, "--kind", "command", "--limit", "2", "-o", "jsonl")
        let seqs = try rest.output.split(separator: "\n").map {
            try json(String($0))["seq"]?.integer
        }
        #expect(seqs == [2, 3], "\(rest)")
        #expect(try new.terminate() == 0)
    }

    @Test func `an export of another format is refused`() throws {
        let lines = try Tombolo.run(["log", "export", "--data", try filled()]).output
        #expect(lines.hasPrefix(#"{"identity":{"format":6,"#))
        let refused = [#""format":7,"#, #""format":"6","#, #""format":null,"#]
        for (number, format) in ([#""format":6,"#, ""] + refused).enumerated() {
            let result = try Tombolo.run(
                ["log", "import", "--data", "\(work.path)/of\(number)"],
                input: lines.replacing(#""format":6,"#, with: format))
            #expect((result.status == 0) == (number < 2), "\(result.errors)")
            #expect(number < 2 || result.errors.contains("with a tombolo of that format"))
        }
    }

    @Test func `a copy is sound, and goes where no log is`() throws {
        let data = try filled()
        let copy = "\(work.path)/monday"
        #expect(try Tombolo.run(["backup", "create", copy, "--data", data]).status == 0)
        #expect(try Tombolo.run(["backup", "verify", copy]).status == 0)
        #expect(try Tombolo.run(["backup", "create", copy, "--data", data]).status == 3)
        let refused = try Tombolo.run(["backup", "restore", copy, "--data", data])
        #expect(refused.status == 3)
        #expect(refused.errors.contains("try: move it away first: mv \(data)"))
        let target = "\(work.path)/restored"
        #expect(try Tombolo.run(["backup", "restore", copy, "--data", target]).status == 0)
        let verified = try Tombolo.run(["log", "verify", "--data", target, "-o", "json"])
        #expect(try json(verified.output)["last_seq"]?.integer == 400)
    }

    @Test func `a restore tells which API keys open, also one that was deleted since`() throws {
        let data = "\(work.path)/keyed"
        let first = try RunningRelay.mintKey(data)
        let second = try RunningRelay.mintKey(data)
        let copy = "\(work.path)/tuesday"
        #expect(try Tombolo.run(["backup", "create", copy, "--data", data]).status == 0)
        let relay = try RunningRelay(serve: data, key: first)
        let ids = [first, second].map { String($0.split(separator: "_")[2]) }
        #expect(try relay.tombolo("key", "rm", ids[1]).status == 0)
        #expect(try relay.terminate() == 0)
        let target = "\(work.path)/again"
        let restored = try Tombolo.run(["backup", "restore", copy, "--data", target, "-o", "json"])
        let keys = try json(restored.output)["keys"]?.elements.compactMap(\.string)
        #expect(keys == ids, "\(restored)")
        let table = try Tombolo.run(
            ["backup", "restore", copy, "--data", target + "2", "-o", "table"])
        #expect(ids.allSatisfy { table.errors.contains("  \($0)  tenant main  scopes produce") })
        #expect(unlink(copy + "/pepper") == 0)
        let bare = try Tombolo.run(
            ["backup", "restore", copy, "--data", target + "3", "-o", "json"])
        #expect(try json(bare.output)["keys"]?.count == 0)
        #expect(bare.status == ExitStatus.partly.rawValue && bare.errors.contains("no file pepper"))
        let old = try RunningRelay(serve: target, key: second)
        #expect(try old.tombolo("key", "ls").status == 0)
        #expect(try old.terminate() == 0)
    }

    @Test func `what is no log is refused with a word`() throws {
        for words in [
            ["log", "verify"], ["log", "export"], ["backup", "create", "\(work.path)/x"],
        ] {
            let result = try Tombolo.run(words + ["--data", work.path])
            #expect(result.status == 3, "\(words)")
            #expect(result.errors.contains("\n  try: "), "\(words)")
        }
    }

    @Test func `what is erased is gone from a relay's files, and the log is sound`() throws {
        let data = "\(work.path)/erased"
        let relay = try RunningRelay(serve: data)
        for id in ["cat", "dog"] {
            #expect(
                try relay.tombolo("start", id, "--type", "T", "-s", "name=secret-of-\(id)").status
                    == 0)
            #expect(try relay.tombolo("update", id, "-s", "note=secret-of-\(id)-too").status == 0)
        }
        #expect(try relay.tombolo("erase", "activity", "cat").status == 3, "it runs still")
        #expect(try relay.tombolo("end", "cat").status == 0)
        let erased = try relay.tombolo("erase", "activity", "cat", "-o", "json")
        #expect(erased.status == 0, "\(erased.errors)")
        #expect(try json(erased.output)["events"]?.integer == 3)
        #expect(try json(erased.output)["out_of_file"]?.bool == true)
        let listed = try relay.tombolo("log", "ls", "--do", "end", "-o", "jsonl")
        #expect(listed.output.contains(#""erased":true"#))
        let verified = try Tombolo.run(["log", "verify", "--data", data, "-o", "json"])
        #expect(verified.status == 0, "\(verified.output)")
        for name in ["tombolo.db", "tombolo.db-wal"] {
            let bytes = try FileBytes.read("\(data)/\(name)")
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("secret-of-cat"), "\(name)")
        }
        #expect(try relay.terminate() == 0)
        let database = try FileBytes.read("\(data)/tombolo.db")
        #expect(String(decoding: database, as: UTF8.self).contains("secret-of-dog"))
    }
}
