import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A locked phone keeps what comes at priority 5 for later: the newest state goes at 10 in time
/// (pacing rule 7).
@Suite struct SettleTests {
    @Test func `ten minutes after a change that went at priority 5 the state goes at 10, once`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .low, until: 7_000)
        #expect(rig.line(from: 1) == #"5:U5{"lap":1} 605:U10{"lap":1}"#, "it is the echo as well")
        #expect(rig.view()?.destinations.first?.waiting == nil)
    }

    @Test func `changes without a pause are never older than ten minutes on a locked phone`() {
        var rig = Rig.running()
        rig.laps(0..<360, .low) { 10 + Double($0) * 10 }
        let high = rig.pushes.filter { $0.push.priority == 10 }.map(\.at.seconds)
        #expect(high.count == 6)
        #expect(zip(high, high.dropFirst()).allSatisfy { $1 - $0 <= 600 + 30 }, "\(high)")
    }

    @Test func `a state that was sent at priority 10 is not sent at 10 again`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .low, until: 300)
        rig.update(lap: 2, .high, until: 7_000)
        #expect(rig.line(from: 1) == #"5:U5{"lap":1} 300:U10{"lap":2} 900:U5{"lap":2}"#)
    }

    @Test func `the reserve is kept: the state waits for a token above it`() {
        var rig = Rig.running()
        for lap in 1...3 {
            rig.advance(to: 600 + Double(lap))
            rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"a"}}"#)
        }
        rig.advance(to: 610)
        rig.update(lap: 4, .low, until: 620)
        // It takes the last token: two are there again after twice 6 minutes.
        rig.command(.update, #"{"state":{"lap":5},"alert":{"title":"a"}}"#)
        rig.advance(to: 625)
        rig.update(lap: 6, .low, until: 7_000)
        let last = #"1225:U5{"lap":6} 1321:U10{"lap":6}"#
        #expect(rig.line(from: 5) == #"615:U5{"lap":4} 620:U10{"lap":5} 630:U5{"lap":6} "# + last)
    }

    @Test func `a restart does not forget what went at priority 5 only`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .low, until: 100)
        #expect(rig.crash(recoverAt: 110).isEmpty)
        rig.advance(to: 590)
        let before = rig.pushes.count
        rig.advance(to: 2_000)
        #expect(rig.line(from: before) == #"605:U10{"lap":1}"#)
    }

    @Test func `a phone that says it shows the state needs no such push`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .low, until: 60)
        rig.report("cat", #"{"phase":"active","shown_state":{"lap":1}}"#)
        rig.advance(to: 7_000)
        #expect(rig.line(from: 1) == #"5:U5{"lap":1}"#)
    }

    @Test func `an update that changes nothing does not put the push off`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .low, until: 604)
        rig.update(lap: 1, until: 7_000)
        #expect(rig.line(from: 1) == #"5:U5{"lap":1} 605:U10{"lap":1} 1204:U5{"lap":1}"#)
        #expect(rig.view()?.destinations.first?.acknowledgedVersion == 3)
    }

    @Test func `a new stale date alone is no change`() {
        var rig = Rig.running(until: 5)
        rig.command(.update, #"{"state":{"lap":1},"stale_after":"20m","urgency":"high"}"#)
        rig.advance(to: 3_590)
        let later = rig.pushes.dropFirst(2).map(\.push.priority)
        #expect(!later.isEmpty && later.allSatisfy { $0 == 5 }, "\(rig.line())")
    }

    @Test func `a state that Apple finally refuses is not tried at 10`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .low, until: 60)
        rig.verdict = { _ in .refusal(413, "PayloadTooLarge", .push) }
        rig.update(lap: 2, .low, until: 7_000)
        #expect(rig.line(from: 1) == #"5:U5{"lap":1} 60:U5{"lap":2}"#)
    }

    @Test func `a channel settles too, and its record says why the push went`() {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        rig.command(.start, #"{"type":"Score","audience":{"channel":"final"},"state":{"goals":0}}"#)
        rig.advance(to: 5)
        rig.command(.update, #"{"state":{"goals":1},"urgency":"low"}"#)
        rig.advance(to: 700)
        #expect(rig.line(from: 1) == #"5:U5{"goals":1} 605:U10{"goals":1}"#)
        #expect(rig.facts.last.flatMap { DeliveryRecord($0) }?.attempt?.purpose == .settle)
    }
}
