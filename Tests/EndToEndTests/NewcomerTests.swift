import Testing
import TomboloJSON

@testable import TomboloProgram

/// What somebody meets who has nothing but the pages: each error names what helps.
@Suite(.serialized) struct NewcomerTests {
    private static func put(_ relay: RunningRelay, _ path: String, _ body: String) throws -> String
    {
        try Shell.run([
            "curl", "-s", "-X", "PUT", "\(relay.api)/v1/\(path)", "-H",
            "Authorization: Bearer \(relay.key)", "-H", "Content-Type: application/json", "-d",
            body,
        ]).output
    }

    @Test func `a push to a wrong token says what Apple said, and why finds it by the token`()
        throws
    {
        let dev = try RunningRelay(dev: ["--phones", "1"])
        let token = String(repeating: "5a", count: 32)
        _ = try Self.put(dev, "devices/p9", #"{"environment":"sandbox","os":"26.1"}"#)
        _ = try Self.put(dev, "devices/p9/tokens/start:OrderAttributes", #"{"token":"\#(token)"}"#)
        let start = try dev.tombolo(
            "start", "order-1", "--type", "OrderAttributes", "--device", "p9", "-s", "step=a",
            "--alert-title", "Go", "--wait", "10s", "-o", "table")
        #expect(start.status == ExitStatus.partly.rawValue, "\(start.output)\(start.errors)")
        #expect(start.output.contains("rejected (400 BadDeviceToken) in"), "\(start.output)")
        let why = try dev.tombolo("why", "--token", "-", "-o", "table", input: token + "\n")
        #expect(why.status == 0, "\(why.errors)")
        #expect(why.output.contains("order-1"), "\(why.output)")
        let never = String(repeating: "5b", count: 32)
        let unknown = try dev.tombolo("why", "--token", "-", input: never)
        #expect(unknown.errors.contains("or had it when Apple called it dead"), "\(unknown.errors)")
        let deliveries = try dev.tombolo("delivery", "ls", "-o", "table")
        #expect(deliveries.output.contains("EVENT"), "\(deliveries.output)")
        #expect(try dev.terminate() == 0)
    }

    @Test func `what is refused names the command that helps`() throws {
        let dev = try RunningRelay(dev: ["--phones", "1"])
        let schema = #"{"state":{"properties":{"step":{"type":"string"}}}}"#
        #expect(try dev.tombolo("type", "put", "OrderAttributes", "-", input: schema).status == 0)
        let start = ["start", "order-1", "--type", "OrderAttributes"]
        let number = try dev.tombolo(start + ["-s", "step=1"])
        #expect(number.errors.contains("try: --text step='1'"), "\(number.errors)")
        #expect(try dev.tombolo(start + ["--text", "step=1"]).status == 0)
        let again = try dev.tombolo(start + ["-s", "step=other", "--restart"])
        #expect(again.errors.contains("end it first"), "\(again.errors)")
        #expect(
            again.errors.contains(
                "try: tombolo end order-1, then: tombolo start order-1 --restart"),
            "\(again.errors)")
        let erased = try dev.tombolo("erase", "activity", "order-1")
        #expect(erased.errors.contains("try: tombolo end order-1"), "\(erased.errors)")
        #expect(try dev.tombolo("why", "order-1", "v1").status == 0)
        let both = try dev.tombolo("why", "order-1", "--user", "u42")
        #expect(both.errors.contains("not both"), "\(both.errors)")
        let misspelt = try dev.tombolo("update", "order-1", "-s", "stop=a", "-o", "table")
        #expect(misspelt.output.contains("lint: /state/stop is not a member"), "\(misspelt.output)")
        let pause = try dev.tombolo("pause", "--all")
        #expect(pause.status == 0)
        let doctor = try dev.tombolo("doctor", "--relay", dev.api, "--key", dev.key, "-o", "table")
        #expect(doctor.output.contains("failed     pause: An operator has paused pushes, since"))
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("try: tombolo resume pause_1"), "\(doctor.output)")
        #expect(try dev.terminate() == 0)
    }

    @Test func `without a file the configuration says so, and names the one that is there`() throws
    {
        let shown = try Tombolo.run("config", "show")
        #expect(shown.status == 0)
        #expect(shown.errors.contains("no file is read"), "\(shown.errors)")
        #expect(shown.errors.contains("try: tombolo config show FILE"), "\(shown.errors)")
    }

    @Test func `phones with a key of another relay are named by doctor`() throws {
        let directory = try TemporaryDirectory()
        let relay = try RunningRelay(serve: directory.path)
        let phones = try ChildProcess([
            "sim", "--listen", "127.0.0.1:0", "--topic", "com.example.app", "--phones", "1",
            "--relay",
            relay.api, "--key", "tmb_dev_other",
        ])
        _ = try phones.line(within: RunningRelay.startTime)
        while !(try phones.line(within: RunningRelay.startTime)).contains("401") {}
        let doctor = try relay.tombolo(
            "doctor", "--relay", relay.api, "--key", relay.key, "-o", "table")
        #expect(doctor.status == 1)
        #expect(
            doctor.output.contains("failed     devices: No device is registered;"),
            "\(doctor.output)")
        #expect(
            doctor.output.contains("refused with 401 in the last 5 minutes"), "\(doctor.output)")
        phones.signal(15)
        _ = try phones.finish(within: RunningRelay.stopTime)
        #expect(try relay.terminate() == 0)
    }
}
