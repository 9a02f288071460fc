import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// `tombolo serve` as a supervisor sees it: starts, signals, crashes.
@Suite(.serialized) struct ServeTests {
    @Test func `SIGTERM ends it with 0, and everything is there at the next start`() throws {
        let directory = try TemporaryDirectory()
        let first = try RunningRelay(serve: directory.path)
        #expect(try first.tombolo("start", "cat", "--type", "Any", "-s", "lap=1").status == 0)
        #expect(try first.terminate() == 0)
        let second = try RunningRelay(serve: directory.path, key: first.key)
        #expect(try second.tombolo("update", "cat", "-s", "lap=2", "--if-match", "v1").status == 0)
    }

    @Test func `a second relay on the same data is told who has it, and exits with 3`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path)
        let second = try Tombolo.run("serve", "--data", directory.path, "--listen", "127.0.0.1:0")
        #expect(second.status == 3)
        #expect(second.errors.contains(" error   stopped: "))
        #expect(second.errors.contains("; try: "))
        // So is a key that would be written past the relay; with a key it goes through it.
        let mint = ["key", "mint", "--scope", "observe", "--data", directory.path]
        #expect(try Tombolo.run(mint).status == 3)
        #expect(try Tombolo.run(mint, environment: relay.environment).status == 0)
    }

    @Test func `an address in use is told with what to do`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path)
        let other = try TemporaryDirectory()
        let address = String(relay.api.dropFirst("http://".count))
        let result = try Tombolo.run("serve", "--data", other.path, "--listen", address)
        #expect(result.status == 1)
        #expect(result.errors.contains("cannot listen on \(address)"))
    }

    @Test func `without a data directory, and with files that are not there, it does not start`()
        throws
    {
        #expect(try Tombolo.run("serve").status == 2)
        let directory = try TemporaryDirectory()
        let path = try directory.write(
            "tombolo.json",
            "{\"data\": \"d\", \"apps\": [{\"id\":\"a\",\"team_id\":\"t\",\"key_id\":\"k\","
                + "\"key_file\":\"missing.p8\"}]}")
        let result = try Tombolo.run("serve", "--config", path)
        #expect(result.status == 2)
        #expect(result.errors.contains("missing.p8 cannot be read"))
        #expect(access("\(directory.path)/d", F_OK) != 0)
    }

    /// Killed in the middle of an upload, again and again: what was answered is in the log once,
    /// the rest at most once, and a second upload of the same lines completes it.
    @Test func `kill -9 loses nothing that was acknowledged, and leaves no lock behind`() throws {
        let directory = try TemporaryDirectory()
        let key = try RunningRelay.mintKey(directory.path)
        let lines = (0..<3_000).map { index in
            index == 0
                ? "{\"id\":\"l0\",\"activity\":\"a\",\"do\":\"start\",\"type\":\"Any\",\"state\":{}}\n"
                : "{\"id\":\"l\(index)\",\"activity\":\"a\",\"do\":\"update\","
                    + "\"state\":{\"n\":\(index)}}\n"
        }
        let file = try directory.write("lines", lines.joined())
        var acknowledged: Set<Int64> = []
        for round in 1...3 {
            let relay = try RunningRelay(serve: directory.path, key: key)
            let append = try ChildProcess(
                ["append", file, "-o", "jsonl"], environment: relay.environment)
            for _ in 0..<(round * 100) {
                let answer = try json(try append.line(within: 30))
                if let seq = answer["seq"]?.integer { acknowledged.insert(seq) }
            }
            try relay.kill()
            let rest = try append.finish(within: 30)
            for line in rest.output.split(separator: "\n") {
                let answer = try json(line)
                if let seq = answer["seq"]?.integer { acknowledged.insert(seq) }
            }
        }
        let relay = try RunningRelay(serve: directory.path, key: key)
        let last = try relay.tombolo("append", file, "-o", "json")
        #expect(last.output == "{\"lines\":3000,\"taken\":3000,\"refused\":0}\n")
        let log = try relay.tombolo("log", "ls", "--limit", "10000", "-o", "jsonl").output
        let seqs = try log.split(separator: "\n").compactMap {
            try json($0)["seq"]?.integer
        }
        let isDense = seqs == Array(1...3_000).map(Int64.init)
        #expect(isDense, "\(seqs.count) events, \(Set(seqs).count) places")
        #expect(acknowledged.count >= 300)
        let lost = acknowledged.subtracting(seqs)
        #expect(lost.isEmpty)
    }

    @Test func `one activity is the same by HTTP/1.1, by HTTP/2 in clear text and under TLS`()
        throws
    {
        let directory = try TemporaryDirectory()
        let key = try RunningRelay.mintKey(directory.path)
        try directory.certificate("tls")
        let clear = try RunningRelay(serve: directory.path, key: key)
        #expect(try clear.tombolo("start", "cat", "--type", "Any", "-s", "lap=1/5").status == 0)
        let curl = ["curl", "-s", "-w", "|%{http_version}", "-H", "authorization: Bearer \(key)"]
        let path = "\(clear.api)/v1/activities/cat"
        let one = try Shell.run(curl + ["--http1.1", path]).output.split(separator: "|")
        let two = try Shell.run(curl + ["--http2-prior-knowledge", path]).output.split(
            separator: "|")
        #expect(try clear.terminate() == 0)
        let secure = try RunningRelay(
            serve: directory.path, key: key,
            arguments: [
                "--tls-certificate", "\(directory.path)/tls.pem", "--tls-key",
                "\(directory.path)/tls.key",
            ])
        #expect(secure.api.hasPrefix("https://"))
        let ca = ["--cacert", "\(directory.path)/tls.pem"]
        let three = try Shell.run(curl + ca + ["--http2", "\(secure.api)/v1/activities/cat"])
            .output.split(separator: "|")
        #expect([one.last, two.last, three.last] == ["1.1", "2", "2"])
        #expect(one.first == two.first)
        #expect(two.first == three.first)
        let shown = try secure.tombolo(
            "activity", "show", "cat", "--ca", "\(directory.path)/tls.pem", "-o", "json")
        #expect(shown.output.split(separator: "\n") == three.first?.split(separator: "\n"))
    }
}
