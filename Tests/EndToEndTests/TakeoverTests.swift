import Testing
import TomboloJSON

/// `sim` beside a relay that has phones of its own.
@Suite struct TakeoverTests {
    @Test func `phones of another simulator are not taken over without a word`() throws {
        let relay = try RunningRelay(dev: [])
        let sim = ["sim", "--listen", "127.0.0.1:0", "--topic", "com.example.app"]
        let refused = try relay.tombolo(sim)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("has simulated phones of its own"))
        #expect(refused.errors.contains("--takeover"))
        let taking = try ChildProcess(
            sim + ["--takeover", "--end-with-input"], environment: relay.environment)
        let ready = try taking.line(within: 20)
        #expect(ready.contains("simulator"))
        taking.closeInput()
        #expect(try taking.finish(within: 20).status == 0)
        #expect(try relay.terminate() == 0)
    }
}
