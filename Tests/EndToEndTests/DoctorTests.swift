import Glibc
import Testing
import TomboloJSON

@testable import tombolo

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
            let ready = try JSONDocument(Array(try simulator.line(within: 30).utf8)).root
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
            return try Shell.run(["faketime", "-f", clock, Tombolo.path] + words)
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
            status: 5)
        expect(try bench.doctor(clock: "+2h"), "clock is more than an hour off", "timedatectl")
        // The simulator's certificate is younger than two hours: Apple's is not.
        expect(
            try bench.doctor(clock: "-2h"), "certificate is not yet valid", "timedatectl",
            status: 5)
        try bench.fault(#"{"reason":"BadEnvironmentKeyIdInToken"}"#)
        expect(try bench.doctor(), "is not for sandbox", "\\\"environment\\\"")
        try bench.fault(#"{"reason":"ServiceUnavailable"}"#)
        expect(try bench.doctor(), "503 ServiceUnavailable", "15 minutes")
        try bench.fault(#"{"rules":[]}"#)
        chmod("\(bench.directory.path)/key.p8", 0o644)
        expect(try bench.doctor(), "is a secret that others may read", "chmod 600")
    }

    @Test func `a relay that is named is asked, and not the one of the configuration`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(
            serve: directory.path, key: try RunningRelay.mintKey(directory.path))
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
