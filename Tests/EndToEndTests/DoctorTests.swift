import Glibc
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloProgram

/// `tombolo doctor` against a simulator that is right, and against everything that goes wrong.
@Suite(.serialized) struct DoctorTests {
    private static let keyID = "ABC123DEFG"
    private static let teamID = "TEAM123456"

    /// A directory with a push key, and a simulator that knows it.
    private struct Bench {
        let directory: TemporaryDirectory
        let simulator: ChildProcess
        let url: String
        let control: String

        init() throws {
            directory = try TemporaryDirectory()
            for name in ["key", "other"] { try directory.pushKey("\(name).p8") }
            simulator = try ChildProcess([
                "sim", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--phones", "0",
                "--key-file", "\(directory.path)/key.p8", "--key-id", DoctorTests.keyID,
                "--team-id", DoctorTests.teamID, "--topic", "com.example.app",
                "--ca-out", "\(directory.path)/ca.pem", "--accept-any-token",
            ])
            let ready = try json(try simulator.line(within: 30))
            url = ready["simulator"]?.string ?? ""
            control = ready["control"]?.string ?? ""
        }

        func doctor(
            team: String = DoctorTests.teamID, key: String = "key", id: String = "com.example.app",
            endpoint: String? = nil, clock: String? = nil
        ) throws -> Tombolo.Result {
            let path = try directory.write(
                "tombolo.json",
                """
                {"data":"d","apps":[{"id":"\(id)","team_id":"\(team)","key_id":"ABC123DEFG",
                "key_file":"\(directory.path)/\(key).p8","environment":"sandbox",
                "endpoint":"\(endpoint ?? url)","ca_file":"\(directory.path)/ca.pem"}]}
                """)
            let words = ["doctor", "--config", path, "-o", "json"]
            guard let clock else { return try Tombolo.run(words) }
            return try Shell.run(Shell.faketime(clock) + [Tombolo.path] + words)
        }

        /// Makes every right push meet a fault.
        func fault(_ rule: String) throws {
            let put = try Shell.run(
                "curl", "-s", "-X", "PUT", "--data-binary", rule, control + "/v1/faults")
            try #require(put.output.contains("rules"), "\(put.output)\(put.errors)")
        }
    }

    @Test func `all is well where key, team, topic and clock are right`() throws {
        let result = try Bench().doctor()
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains(#""ok":true"#))
    }

    /// What the running relay says of itself, by metrics made up.
    private func examined(_ metrics: String) throws -> [DoctorCommand.Finding] {
        RelayExamination(configuration: Configuration(), key: "k", now: Instant(seconds: 1_000))
            .findings(MetricsReading(metrics))
    }

    @Test(arguments: ["Inf", "+Inf", "-Inf", "NaN", "1e300", "-1e300", "9223372036854775808", "x"])
    func `a value that no relay counts to ends no examination`(_ value: String) throws {
        let app = "app=\"a\u{1B}[2J\u{202E}\",environment=\"production\""
        var metrics = [
            "disk_free_bytes", "log_bytes", "clock_behind_seconds", "certificate_end_seconds",
        ].map { "tombolo_\($0) \(value)" }
        metrics.append("tombolo_upstreams{\(app),state=\"closed\"} \(value)")
        metrics.append("tombolo_upstreams{\(app),state=\"closed\"} 1")
        let findings = try examined(metrics.joined(separator: "\n"))
        let shown = findings.map { $0.app + $0.detail + ($0.fix ?? "") }.joined()
        #expect(shown.contains(#"a\u{1b}[2J\u{202e}"#), "\(shown)")
        #expect(!shown.unicodeScalars.contains("\u{1B}"))
    }

    @Test func `the running relay is asked for disk, clock, certificate and upstreams`() throws {
        let app = #"app="a\"b",environment="production""#
        let well = """
            # HELP tombolo_disk_free_bytes Free.
            tombolo_disk_free_bytes 81234567890
            tombolo_log_bytes 1499999
            tombolo_clock_behind_seconds 0
            tombolo_certificate_end_seconds 2000
            tombolo_upstreams{\(app),state="open"} 1
            tombolo_upstreams{\(app),state="closed"} 0
            tombolo_upstream_info{\(app),endpoint="https://127.0.0.1:8443",ca_file="ca.pem"} 1
            """
        let good = try examined(well)
        #expect(good.allSatisfy { $0.isOK }, "\(good)")
        #expect(good.contains { $0.detail == "the log has 1.5 MB, and 81 GB are free on its disk" })
        #expect(good.contains { $0.detail.contains("valid until 1970-01-01T00:33:20.000Z") })
        #expect(good.contains { $0.app == "a\"b" && $0.check == "upstream" })
        #expect(
            good.contains {
                $0.detail == "pushes go to https://127.0.0.1:8443, not to Apple, and trust ca.pem"
            })
        let bad = try examined(
            well.replacing("81234567890", with: "812345678").replacing(
                "behind_seconds 0", with: "behind_seconds 70"
            )
            .replacing("end_seconds 2000", with: "end_seconds 999")
            .replacing(#"state="closed"} 0"#, with: #"state="closed"} 1"#))
        let failed = bad.filter { !$0.isOK }
        #expect(failed.map(\.check).sorted() == ["certificate", "clock", "disk", "upstream"])
        #expect(failed.allSatisfy { $0.fix != nil })
        let blind = try examined("tombolo_ready 1")
        #expect(
            blind.contains {
                $0.verdict == .notAsked && $0.detail.contains("scope operate of the tenant main")
            })
    }

    @Test(arguments: [
        (#"{"text":"An operator has paused pushes, since then."}"#, true),
        (#"{"text":"An operator has paused pushes of the app a, since then.","app":"a"}"#, true),
        (#"{"text":"An operator has paused pushes of the app b, since then.","app":"b"}"#, false),
        (#"{"text":"An operator has paused pushes of the type T, since then."}"#, false),
        (#"{"text":"An operator has paused pushes of c, since then.","activity":"c"}"#, false),
        (#"{"text":"An operator has paused alerts, since then."}"#, false),
    ])
    func `pushes do not go while a pause covers the app`(_ row: (String, Bool)) throws {
        let item = row.0.replacing("{\"text\"", with: #"{"code":"paused","text""#)
        let attention = [try json(item)]
        let metrics = #"tombolo_upstreams{app="a",environment="sandbox",state="closed"} 0"#
        let findings = RelayExamination(
            configuration: Configuration(), key: "k", now: Instant(seconds: 1_000)
        ).findings(MetricsReading(metrics), attention: attention)
        let detail = findings.first { $0.check == "upstream" }?.detail
        #expect(detail?.contains("a pause holds the pushes") == row.1)
        #expect(detail?.contains("pushes go") == !row.1)
    }

    @Test func `what needs attention is a fault of the relay, or a notice`() throws {
        let list = #"""
            [{"code":"paused","text":"An operator has paused pushes.","try":["tombolo resume --all"]},
            {"code":"upstream_closed","text":"It waits.","app":"a","environment":"sandbox",
            "try":["tombolo doctor"]},
            {"code":"silent","text":"They say nothing.","try":["tombolo device show d"]}]
            """#
        let items = Array(try json(list).elements)
        let findings = items.compactMap { RelayExamination.finding($0) }
        #expect(findings.allSatisfy { !$0.isOK })
        #expect(findings.map(\.verdict) == [.failed, .failed, .notice])
        #expect(findings.map(\.check) == ["pause", "upstream", "silent"])
        #expect(findings.map(\.fix) == ["tombolo resume --all", nil, "tombolo device show d"])
        let metrics = ["sandbox", "production"].map {
            "tombolo_upstreams{app=\"a\",environment=\"\($0)\",state=\"closed\"} 1\n"
        }
        let upstreams = RelayExamination(
            configuration: Configuration(), key: "k", now: Instant(seconds: 1_000)
        ).findings(MetricsReading(metrics.joined()), attention: items)
            .filter { $0.check == "upstream" }
        #expect(upstreams.filter { $0.detail == "It waits." }.count == 1)
    }

    @Test func `with a key doctor shows the inside of the relay, else how to see it`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path)
        let words = [
            "doctor", "--data", directory.path, "--listen", String(relay.api.dropFirst(7)),
            "-o", "table",
        ]
        let inside = try Tombolo.run(words, environment: ["TOMBOLO_KEY": relay.key]).output
        #expect(inside.contains("ok         relay: the relay at \(relay.api) takes events"))
        #expect(inside.contains("ok         disk: the log has "), "\(inside)")
        #expect(inside.contains("ok         clock: "))
        let outside = try Tombolo.run(words).output
        #expect(outside.contains("not asked  inside: disk, log"), "\(outside)")
        #expect(outside.contains("needs a --key of the tenant main"))
        let wrong = try Tombolo.run(words, environment: ["TOMBOLO_KEY": "tmb_live_wrong"])
        #expect(wrong.output.contains("failed     inside: "), "\(wrong.output)")
        #expect(try relay.terminate() == 0)
    }

    @Test func `each cause is named with its fix`() throws {
        let bench = try Bench()
        func expect(_ result: Tombolo.Result, _ cause: String, _ fix: String, status: Int32 = 1) {
            #expect(result.status == status, "\(result.output)\(result.errors)")
            #expect(result.output.contains(cause), "\(result.output)")
            #expect(result.output.contains(fix), "\(result.output)")
        }
        expect(try bench.doctor(key: "other"), "InvalidProviderToken", "compare key_id and team_id")
        expect(
            try bench.doctor(team: "TEAM654321"), "InvalidProviderToken",
            "compare key_id and team_id")
        expect(try bench.doctor(id: "com.example.none"), "TopicDisallowed", "bundle id")
        expect(
            try bench.doctor(endpoint: "https://127.0.0.1:1"), "cannot be reached", "nc -vz",
            status: 7)
        expect(try bench.doctor(clock: "+2h"), "clock is more than an hour off", "timedatectl")
        // The simulator's certificate is younger than two hours: Apple's is not.
        expect(try bench.doctor(clock: "-2h"), "certificate is not yet valid", "timedatectl")
        try bench.fault(#"{"reason":"BadEnvironmentKeyIdInToken"}"#)
        expect(try bench.doctor(), "is not for sandbox", "\\\"environment\\\"")
        try bench.fault(#"{"reason":"ServiceUnavailable"}"#)
        expect(try bench.doctor(), "503 ServiceUnavailable", "15 minutes", status: 7)
        // The key's fault outweighs Apple's.
        expect(try bench.doctor(team: "TEAM"), "team_id", "")
        try bench.fault(#"{"rules":[]}"#)
        chmod("\(bench.directory.path)/key.p8", 0o644)
        expect(try bench.doctor(), "is a secret that others may read", "chmod 600")
    }

    @Test func `a relay that is named is asked, and not the one of the configuration`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path)
        let asked = try Tombolo.run(["doctor"], environment: ["TOMBOLO_RELAY": relay.api])
        #expect(asked.status == 0, "\(asked.output)")
        #expect(asked.output.contains("the relay at \(relay.api) takes events"))
        let none = try Tombolo.run("doctor", "--relay", "http://127.0.0.1:1")
        #expect(none.status == 5)
        #expect(none.output.contains("no relay listens on http://127.0.0.1:1"), "\(none.output)")
        #expect(try relay.terminate() == 0)
    }

    @Test func `a machine without an app is told to configure one`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("tombolo.json", #"{"data":"d"}"#)
        let result = try Tombolo.run("doctor", "--config", path)
        #expect(result.status == 1)
        #expect(result.output.contains("no app is configured"))
    }
}
