import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// What an operator does at night: the wrong directory, somebody else's pause, evidence.
@Suite(.serialized) struct OperatorTests {
    private func relay(_ directory: TemporaryDirectory) throws -> RunningRelay {
        try RunningRelay(
            serve: directory.path, key: try RunningRelay.mintKey(directory.path))
    }

    @Test func `a key for a directory without a log says that it is for a new relay`() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/tombola"
        let mint = ["key", "mint", "--scope", "observe", "--data", path]
        let first = try Tombolo.run(mint)
        #expect(first.status == 0)
        #expect(first.errors.contains("\(path) had no log: a new one is made there"))
        #expect(try !Tombolo.run(mint).errors.contains("had no log"))
    }

    @Test func `a key for a log that cannot be opened keeps the remedy of that`() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("tombolo.db", String(repeating: "no database ", count: 1_000))
        let mint = ["key", "mint", "--scope", "observe", "--data", directory.path]
        for environment in [[:], ["TOMBOLO_KEY": "tk_live_none"]] {
            let refused = try Tombolo.run(mint, environment: environment)
            #expect(refused.status == 3)
            #expect(refused.errors.contains("try: restore a backup"), "\(refused.errors)")
        }
    }

    @Test func `the remedy of a 401 works beside a running relay`() throws {
        let directory = try TemporaryDirectory()
        let relay = try relay(directory)
        let refused = try Tombolo.run(["log", "ls", "--relay", relay.api])
        #expect(refused.status == 4)
        #expect(refused.errors.contains("tombolo help key mint"))
        let help = try Tombolo.run("help", "key", "mint").output
        #expect(help.contains("stop the relay, create one with --data"))
        // What it says of a directory that the relay holds leads to a key.
        let held = try Tombolo.run(
            "key", "mint", "--scope", "observe", "--data", directory.path)
        #expect(held.status == 3)
        #expect(held.errors.contains("--relay ORIGIN --key KEY"), "\(held.errors)")
        let minted = try relay.tombolo("key", "mint", "--scope", "observe", "-o", "json")
        #expect(minted.status == 0, "\(minted.errors)")
    }

    @Test func `what others wrote reaches nobody's terminal as it is`() throws {
        let directory = try TemporaryDirectory()
        let relay = try relay(directory)
        let evil = "\u{1B}[2Jnight\u{07}"
        let paused = try relay.tombolo("pause", "--all", "--reason", evil, "-o", "table")
        #expect(paused.status == 0 && paused.output.contains("?[2Jnight?"), "\(paused.output)")
        let list = try relay.tombolo("pause", "-o", "table").output
        #expect(list.contains("?[2Jnight?") && !list.unicodeScalars.contains("\u{1B}"), "\(list)")
        let refused = try relay.tombolo("log", "ls", "--from", evil)
        #expect(refused.status != 0 && !refused.errors.unicodeScalars.contains("\u{1B}"))
        #expect(refused.errors.contains("night"), "\(refused.errors)")
    }

    @Test func `a bare resume lifts nothing and names what is in force`() throws {
        let directory = try TemporaryDirectory()
        let relay = try relay(directory)
        #expect(try relay.tombolo("resume", "--all", "-o", "table").output == "nothing is paused\n")
        #expect(try relay.tombolo("pause", "--all", "--reason", "night").status == 0)
        #expect(try relay.tombolo("pause", "--all", "--reason", "other").status == 0)
        let bare = try relay.tombolo("resume")
        #expect(bare.status == 2)
        #expect(bare.errors.contains("pause_1, pause_2"), "\(bare.errors)")
        let list = try relay.tombolo("pause", "-o", "jsonl").output
        #expect(list.split(separator: "\n").count == 2)
        #expect(try relay.tombolo("resume", "pause_1").status == 0)
        #expect(try relay.tombolo("resume", "pause_1", "--all").status == 2)
        #expect(try relay.tombolo("resume", "--all").status == 0)
        #expect(try relay.tombolo("pause", "-o", "jsonl").output.isEmpty)
    }
}
