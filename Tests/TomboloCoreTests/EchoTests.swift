import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A 200 is no receipt (pacing rule 15).
@Suite struct EchoTests {
    @Test func `ten minutes after the last change the state goes once more at priority 5`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .high, until: 7_000)
        #expect(
            rig.line() == #"0:S10{"lap":0} 5:U10{"lap":1} 605:U5{"lap":1}"#,
            "and then there is quiet")
    }

    @Test func `after an end it is the end that goes again`() {
        var rig = Rig.running(until: 5)
        rig.command(.end, #"{"dismiss":"after 1h"}"#)
        rig.advance(to: 7_000)
        #expect(rig.line(from: 1) == #"5:E10{"lap":0} 605:E5{"lap":0}"#)
        let ends = rig.pushes.suffix(2).map { Rig.aps($0.push) }
        #expect(ends[0]?["dismissal-date"]?.integer == ends[1]?["dismissal-date"]?.integer)
        #expect(ends[0]?["timestamp"]?.integer ?? 0 < ends[1]?["timestamp"]?.integer ?? 0)
    }

    @Test func `an end that was held for longer than a card may live goes no second time`() {
        var rig = Rig.running(until: 5)
        rig.command(.end, "{}")
        #expect(rig.pushes.count == 2)
        let number = rig.pause(#"{"all":true}"#)
        rig.advance(to: 13 * 3_600)
        rig.resume(number)
        rig.advance(to: 14 * 3_600)
        #expect(rig.pushes.count == 2, "its card is gone")
    }

    @Test func `a sign of life later than the last send brings an echo, twice for each change`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .high)
        for second in [30.0, 60, 90, 120] {
            rig.advance(to: second)
            rig.presence(.background)
        }
        rig.advance(to: 7_000)
        #expect(rig.line(from: 1) == #"5:U10{"lap":1} 30:U5{"lap":1} 60:U5{"lap":1}"#)
        rig.update(lap: 2, .high, until: 7_030)
        rig.presence(.background)
        #expect(
            rig.line(from: 4) == #"7000:U10{"lap":2} 7030:U5{"lap":2}"#,
            "the next change has its own")
    }

    @Test func `a sign of life right after a send waits until the send may have arrived`() {
        var rig = Rig.running(until: 100)
        rig.update(lap: 1, .high, until: 102)
        rig.presence(.background)
        rig.advance(to: 105)
        rig.report("cat", #"{"phase":"active","shown_state":{"lap":1}}"#)
        rig.advance(to: 7_000)
        #expect(rig.line(from: 1) == #"100:U10{"lap":1}"#, "the phone's word is a receipt")
    }

    @Test func `a phone that shows something older gets the newest again`() {
        var rig = Rig.running(until: 100)
        rig.update(lap: 1, .high, until: 130)
        rig.report("cat", #"{"phase":"active","shown_state":{"lap":0}}"#)
        #expect(rig.line(from: 1) == #"100:U10{"lap":1} 130:U5{"lap":1}"#)
    }

    @Test func `a phone that says it is over needs no second end`() {
        var rig = Rig.running(until: 5)
        rig.command(.end, "{}")
        rig.advance(to: 10)
        rig.report("cat", #"{"phase":"ended","by":"system"}"#)
        rig.advance(to: 7_000)
        #expect(rig.line(from: 1) == #"5:E10{"lap":0}"#)
    }

    @Test func `of two activities the one that was lost comes back with the other's token`() {
        var rig = Rig.running()
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"dog":1}}"#,
            id: "dog")
        rig.token("activity:dog", "dd")
        rig.advance(to: 1_000)
        let before = rig.pushes.count
        rig.token("activity:dog", "de")
        rig.advance(to: 1_100)
        #expect(
            Set(rig.pushes.dropFirst(before).map { "\($0.push.token)\(Rig.state($0.push))" })
                == [#"bb{"lap":0}"#, #"de{"dog":1}"#])
    }

    @Test func `an echo of the end that finds its token dead changes nothing`() {
        var rig = Rig.running(until: 5)
        rig.command(.end, "{}")
        rig.verdict = { _ in CardLifeTests.gone }
        rig.advance(to: 7_000)
        #expect(rig.line(from: 1) == #"5:E10{"lap":0} 605:E5{"lap":0}"#)
        #expect(rig.view()?.destinations.first?.phase == "ended")
        rig.advance(to: 8_000)
        rig.presence(.background)
        #expect(rig.pushes.count == 3, "nothing goes to a token after its retirement")
    }

    @Test func `echoes are counted across a crash`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .high, until: 30)
        rig.presence(.background)
        rig.advance(to: 60)
        rig.presence(.background)
        rig.advance(to: 70)
        #expect(rig.pushes.count == 4)
        #expect(rig.crash(recoverAt: 80) == [])
        rig.advance(to: 100)
        rig.presence(.background)
        rig.advance(to: 7_000)
        #expect(rig.pushes.count == 4)
    }

    @Test func `a pause holds an echo too`() {
        var rig = Rig.running(until: 5)
        rig.command(.end, "{}")
        _ = rig.pause(#"{"all":true}"#)
        rig.advance(to: 7_000)
        #expect(rig.pushes.count == 2)
    }

    /// Seed 371 of the simulation: the echo met a token that was gone, and counted all the same.
    @Test func `an echo that Apple refused is none, and a token that comes later brings it`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1, .high)
        rig.verdict = { _ in .refusal(410, "Unregistered", .tokenGone) }
        rig.advance(to: 30)
        rig.presence(.background)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 60)
        rig.token("activity:cat", "cc")
        rig.advance(to: 100)
        rig.presence(.background)
        rig.advance(to: 7_000)
        #expect(rig.line(from: 2) == #"30:U5{"lap":1} 60:U5{"lap":1} 100:U5{"lap":1}"#)
        #expect(rig.pushes.last?.push.token == "cc")
    }
}
