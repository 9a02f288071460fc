import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// Another push key is applied while the relay runs.
@Suite(.serialized) struct KeyRotationTests {
    private let directory: TemporaryDirectory
    private let simulator: ChildProcess
    private let url: String
    private let control: String
    private let configuration: String

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["one", "two", "strange"] { try directory.pushKey("\(name).p8") }
        simulator = try ChildProcess([
            "sim", "--listen", "127.0.0.1:0", "--phones", "0",
            "--key-file", "\(directory.path)/one.p8", "--key-id", "KEY0000001",
            "--key-file", "\(directory.path)/two.p8", "--key-id", "KEY0000002",
            "--team-id", "TEAM123456", "--topic", "com.example.app",
            "--ca-out", "\(directory.path)/ca.pem", "--accept-any-token",
            "--control", "127.0.0.1:0",
        ])
        let ready = try json(try simulator.line(within: 30))
        url = ready["simulator"]?.string ?? ""
        control = ready["control"]?.string ?? ""
        configuration = "\(directory.path)/tombolo.json"
    }

    private func configure(_ key: String, _ id: String) throws {
        try directory.write(
            "tombolo.json",
            """
            {"apps":[{"id":"com.example.app","team_id":"TEAM123456","key_id":"\(id)",
            "key_file":"\(directory.path)/\(key).p8","environment":"sandbox",
            "endpoint":"\(url)","ca_file":"\(directory.path)/ca.pem"}]}
            """)
    }

    private func curl(_ relay: RunningRelay, _ path: String, _ body: String) throws {
        let put = try Shell.run(
            "curl", "-sf", "-X", "PUT", "-H", "Authorization: Bearer \(relay.key)", "-d", body,
            relay.api + path)
        try #require(put.status == 0, "\(path): \(put.output)\(put.errors)")
    }

    /// Whether the phone's way took the update.
    private func update(_ relay: RunningRelay, _ lap: Int64) throws -> Bool {
        let told = try relay.tombolo(
            "update", "cat", "-s", "lap=\(lap)", "--urgency", "high", "--wait", "5s", "-o", "json")
        try #require(told.status == 0, "\(told.errors)")
        let end = time(nil) + 30
        while time(nil) < end {
            let shown = try relay.tombolo("activity", "show", "cat", "-o", "json").output
            let view = try json(shown)
            let first = view["destinations"]?.elements.first { _ in true }
            if first?["acknowledged_version"]?.integer == lap + 1 { return true }
        }
        return false
    }

    /// Pushes that Apple's part took, by the key that signed for them.
    private func signed(by key: String) throws -> Int64 {
        let counts = try Shell.run("curl", "-sf", control + "/v1/counts").output
        return try json(counts)["keys"]?[key]?.integer ?? 0
    }

    @Test func `with pushes in flight the new key signs what is new, and the old one's drain`()
        throws
    {
        try configure("one", "KEY0000001")
        let relay = try RunningRelay(serve: directory.path, arguments: ["--config", configuration])
        for (name, token) in [("cat", "aabb"), ("dog", "ccdd")] {
            let device = "/v1/devices/phone-\(name)"
            try curl(relay, device, #"{"app":"com.example.app","budget_class":"lab"}"#)
            try curl(relay, device + "/tokens/activity:\(name)", #"{"token":"\#(token)"}"#)
            let start = try relay.tombolo(
                "start", name, "--type", "Any", "--device", "phone-\(name)", "-s", "lap=0",
                "--wait", "5s")
            #expect(start.status == 0, "\(start.errors)")
        }
        #expect(try signed(by: "KEY0000001") == 2)

        // Apple takes its time with the next one to the cat.
        let slow = try Shell.run(
            "curl", "-sf", "-d", #"{"token":"aabb","times":1,"delay":"3s"}"#,
            control + "/v1/faults")
        try #require(slow.status == 0, "\(slow.output)")
        let update = try relay.tombolo("update", "cat", "-s", "lap=1")
        #expect(update.status == 0, "\(update.errors)")
        let end = time(nil) + 30
        while try signed(by: "KEY0000001") < 3, time(nil) < end {}
        try configure("two", "KEY0000002")
        #expect(try hangUp(relay).contains("key KEY0000002 is in use"))
        let other = try relay.tombolo("update", "dog", "-s", "lap=1", "--wait", "5s", "-o", "json")
        #expect(other.output.contains(#""result":"accepted""#), "\(other.output)")
        // The proof, and this one.
        #expect(try signed(by: "KEY0000002") == 2)

        // What was in flight has ended well, on the connection that carried it.
        var cat = try json("{}")
        while time(nil) < end {
            let shown = try relay.tombolo("activity", "show", "cat", "-o", "json").output
            cat =
                try json(shown)["destinations"]?.elements.first { _ in
                    true
                } ?? cat
            if cat["acknowledged_version"]?.integer == 2 { break }
        }
        #expect(cat["acknowledged_version"]?.integer == 2)
        #expect(cat["result"]?.string == "accepted")
        #expect(try signed(by: "KEY0000001") == 3)
        #expect(try relay.terminate() == 0)
    }

    /// A relay with key one and a running activity of one phone.
    private func running() throws -> RunningRelay {
        try configure("one", "KEY0000001")
        let relay = try RunningRelay(serve: directory.path, arguments: ["--config", configuration])
        try curl(relay, "/v1/devices/phone", #"{"app":"com.example.app","budget_class":"lab"}"#)
        try curl(relay, "/v1/devices/phone/tokens/activity:cat", #"{"token":"aabb"}"#)
        let start = try relay.tombolo(
            "start", "cat", "--type", "Any", "--device", "phone", "-s", "lap=0", "--wait", "5s")
        #expect(start.status == 0, "\(start.errors)")
        #expect(try update(relay, 1))
        return relay
    }

    /// What SIGHUP says.
    private func hangUp(_ relay: RunningRelay) throws -> String {
        relay.process.signal(SIGHUP)
        return try relay.process.errorLine(containing: "config-", within: 30)
    }

    @Test func `a second key is taken into use without a restart`() throws {
        let relay = try running()
        #expect(try hangUp(relay).contains("nothing has changed"))
        try configure("two", "KEY0000002")
        #expect(try hangUp(relay).contains("key KEY0000002 is in use"))
        #expect(try update(relay, 2))
        #expect(try relay.terminate() == 0)
    }

    @Test func `a key that Apple refuses does not take the place of a good one`() throws {
        let relay = try running()
        try configure("strange", "KEY0000003")
        let refused = try hangUp(relay)
        #expect(refused.contains("key KEY0000001 stays in use, key KEY0000003 is refused"))
        #expect(refused.contains("403 InvalidProviderToken"), "\(refused)")
        #expect(refused.contains("; try: "))
        #expect(try update(relay, 2))
        #expect(try signed(by: "KEY0000001") == 3)

        // Apple is unwell: nobody knows whether the key is good.
        let fault = try Shell.run(
            "curl", "-sf", "-d", #"{"token":"00","times":1,"reason":"ServiceUnavailable"}"#,
            control + "/v1/faults")
        try #require(fault.status == 0, "\(fault.output)")
        try configure("two", "KEY0000002")
        let unproven = try hangUp(relay)
        #expect(unproven.contains("KEY0000002 is not proven: 503 ServiceUnavailable"))
        #expect(try update(relay, 3))
        #expect(try hangUp(relay).contains("key KEY0000002 is in use"))
        #expect(try update(relay, 4))
        #expect(try relay.terminate() == 0)
    }

    @Test func `another authority in the same file is taken into use`() throws {
        try configure("one", "KEY0000001")
        let authority = try FileBytes.read("\(directory.path)/ca.pem")
        // One that did not sign the simulator's certificate.
        let made = try Shell.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", "/CN=other", "-days", "2", "-keyout", "\(directory.path)/other.key",
            "-out", "\(directory.path)/ca.pem")
        try #require(made.status == 0, "\(made.errors)")
        let relay = try RunningRelay(serve: directory.path, arguments: ["--config", configuration])
        let device = "/v1/devices/phone-cat"
        try curl(relay, device, #"{"app":"com.example.app","budget_class":"lab"}"#)
        try curl(relay, device + "/tokens/activity:cat", #"{"token":"aabb"}"#)
        try curl(
            relay, "/v1/activities/cat",
            #"{"type":"T","audience":{"device":"phone-cat","start":"adopt"},"state":{"lap":0}}"#)
        // What was not sent says why in the list, too.
        let end = time(nil) + 30
        var list = ""
        while time(nil) < end, !list.contains("not_sent") {
            list = try relay.tombolo("delivery", "ls", "-o", "table").output
        }
        #expect(list.contains("not_sent"), "\(list)")
        try FileBytes.write(authority, to: "\(directory.path)/ca.pem")
        let told = try hangUp(relay)
        #expect(told.contains("\(directory.path)/ca.pem is in use"), "\(told)")
        #expect(try update(relay, 1))
        #expect(try relay.terminate() == 0)
    }

    @Test func `a file that cannot be read is named with its place, and the old key stays`() throws
    {
        let relay = try running()
        let good = try String(decoding: FileBytes.read(configuration), as: UTF8.self)

        try directory.write("strange.p8", "nonsense")
        try configure("strange", "KEY0000003")
        let nonsense = try hangUp(relay)
        #expect(nonsense.contains("key KEY0000001 stays in use: \(configuration):2:"))
        #expect(nonsense.contains("strange.p8 is not a push key"), "\(nonsense)")

        try configure("missing", "KEY0000003")
        let missing = try hangUp(relay)
        #expect(missing.contains("missing.p8 cannot be read: No such file"), "\(missing)")
        #expect(missing.contains("try: ls -l \(directory.path)/missing.p8"))

        try directory.write("tombolo.json", good + "x")
        let broken = try hangUp(relay)
        #expect(broken.contains("nothing is changed: \(configuration):3:"), "\(broken)")
        #expect(!broken.contains("ProgramError"))

        try directory.write("tombolo.json", #"{"budgets":{"lab":{"burst":7}},"apps":[]}"#)
        let other = try hangUp(relay)
        #expect(other.contains("app com.example.app: it is not in the configuration any more"))
        let differs = try relay.process.errorLine(containing: "config-needs-restart", within: 30)
        #expect(differs.contains("budgets.lab.burst differs from what the relay runs with"))
        #expect(try update(relay, 2))
        #expect(try relay.terminate() == 0)
    }
}
