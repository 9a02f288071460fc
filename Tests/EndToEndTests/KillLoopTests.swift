import Testing
import TomboloJSON

@testable import TomboloProgram

/// A relay that is killed again and again, as a supervisor and a fault make it.
@Suite struct KillLoopTests {
    /// Each kill leaves open which timestamps the last relay used. What is assumed of them must not
    /// add up: cards would be minutes ahead, and the relay would take its own clock for wrong.
    @Test func `after 110 kills the clock of a relay is right`() throws {
        let directory = try TemporaryDirectory()
        let words = ["--data", directory.path + "/data"]
        let relay = try RunningRelay(dev: words)
        let start = try relay.tombolo(
            "start", "cat", "--type", "OrderAttributes", "--device", "phone-1", "-s", "step=1",
            "--wait", "5s")
        #expect(start.status == 0, "\(start.errors)")
        for lap in 2...4 {
            let update = try relay.tombolo("update", "cat", "-s", "step=\(lap)", "--wait", "5s")
            #expect(update.status == 0, "\(update.errors)")
        }
        try relay.kill()
        for _ in 1...110 { try RunningRelay(dev: words).kill() }
        let last = try RunningRelay(dev: words)
        let update = try last.tombolo("update", "cat", "-s", "step=5", "--wait", "5s")
        #expect(update.status == 0, "\(update.errors)")
        let doctor = try last.tombolo("doctor")
        #expect(doctor.status == 0, "\(doctor.output)\(doctor.errors)")
        #expect(try last.terminate() == 0)
    }
}
