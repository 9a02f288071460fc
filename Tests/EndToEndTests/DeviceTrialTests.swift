import Glibc
import Testing
import TomboloJSON

@testable import TomboloProgram

/// `device trial` on simulated phones: an app that runs the contract passes each step, and for a
/// careless one the trial names the step at which it stops.
@Suite(.serialized) struct DeviceTrialTests {
    private let relay: RunningRelay

    init() throws {
        relay = try RunningRelay(dev: ["--phone", "phone-2.app=careless"])
    }

    private func trial(_ words: String...) throws -> (status: Int32?, verdicts: [String: String]) {
        let result = try relay.tombolo(["device", "trial"] + words + ["-o", "json"])
        let root = try json(result.output)
        let rows = root["steps"].map { Array($0.elements) } ?? []
        #expect(rows.map { $0["step"]?.string } == TrialStep.allCases.map(\.rawValue))
        let pairs = rows.map { ($0["step"]?.string ?? "", $0["verdict"]?.string ?? "") }
        return (result.status, Dictionary(pairs, uniquingKeysWith: { $1 }))
    }

    @Test func `an app that runs the contract passes the twelve steps`() throws {
        let folder = try TemporaryDirectory()
        let file = "\(folder.path)/trial.json"
        let (status, verdicts) = try trial("phone-1", "--out", file)
        #expect(status == 0 && Set(verdicts.values) == ["yes"], "\(verdicts)")
        let device = try relay.tombolo("device", "show", "phone-1", "-o", "json").output
        let report = String(decoding: try FileBytes.read(file), as: UTF8.self)
        let tokens = try json(device)["tokens"]?.elements.compactMap {
            $0["token"]?.string?.prefix(8)
        }
        #expect(try #require(tokens).allSatisfy { !report.contains($0) })
        let left = try phone()
        #expect(left.contains(#""cards":[]"#) && left.contains(#""widgets":[]"#), "\(left)")
    }

    @Test func `of a careless app the trial names the step`() throws {
        // What waits when the trial puts the app in the background is lost with this app.
        try relay.waitUntil {
            try relay.tombolo("device", "show", "phone-2", "-o", "json").output.contains(
                "start:OrderAttributes")
        }
        let (status, verdicts) = try trial("phone-2", "--within", "3s")
        #expect(status == 1)
        let failed = TrialStep.allCases.filter { verdicts[$0.rawValue] == "no" }
        #expect(failed == [.allow], "\(verdicts)")
        #expect(verdicts["start"] == "yes" && verdicts["update"] == "not tried")
    }

    @Test func `an interrupted trial leaves neither a card nor a locked phone`() throws {
        let trial = try ChildProcess(
            ["device", "trial", "phone-1", "-o", "table"], environment: relay.environment)
        while try !trial.line(within: 30).contains(TrialStep.alert.rawValue) {}
        // The next step locks the phone.
        try relay.waitUntil { try phone().contains(#""locked":true"#) }
        trial.signal(SIGINT)
        let result = try trial.finish(within: 30)
        #expect(result.status == 1 && result.errors.contains("interrupted"), "\(result.errors)")
        let left = try phone()
        #expect(left.contains(#""cards":[]"#) && left.contains(#""locked":false"#), "\(left)")
    }

    private func phone() throws -> String {
        try relay.tombolo("phone", "show", "phone-1", "-o", "json").output
    }

    @Test func `a phone that is not simulated needs a type and a state`() throws {
        let device = try relay.tombolo("device", "trial", "phone-1", "-s", "steps=[]")
        #expect(device.status == 2 && device.errors.contains("first member"), "\(device.errors)")
        let unknown = try relay.tombolo("device", "trial", "phone-9")
        #expect(unknown.status == 3, "\(unknown.errors)")
    }
}
