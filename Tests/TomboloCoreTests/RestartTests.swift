import Testing
import TomboloCore
import TomboloJSON

/// What a crash must not take from cards and tokens. Found by the simulation.
@Suite struct RestartTests {
    @Test func `a card of an incarnation that a restart left behind gets its end after a crash`() {
        var rig = Rig()
        rig.runningActivity()
        rig.advance(to: 10)
        rig.verdict = { _ in .notSent(reason: "no connection") }
        rig.command(.end, #"{"state":{"lap":9}}"#)
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":100}}"#
        ) { $0.restart = true }
        let before = rig.pushes.count
        #expect(rig.crash(recoverAt: 20).isEmpty)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 400)
        let old = rig.pushes.dropFirst(before).map(\.push).filter { $0.token == "bb" }
        #expect(!old.isEmpty)
        #expect(old.allSatisfy { $0.event == .end && Rig.state($0) == #"{"lap":9}"# })
    }

    @Test func `a token without a time is news also to a clock that was set back`() {
        var rig = Rig()
        rig.runningActivity()
        rig.now = Rig.epoch + .hours(-1)
        rig.token("activity:cat", "cc")
        rig.now = Rig.epoch + .seconds(10)
        rig.command(.update, #"{"state":{"lap":1}}"#)
        #expect(rig.pushes.last?.push.token == "cc")
    }
}
