import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// One marble diagram for each rule of pacing: what goes in, and the line of what comes out.
@Suite struct PacingRulesTests {
    // MARK: 1 Leading edge, 2 trailing value

    @Test func `a change goes out at once when the grant allows`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 1)
        #expect(rig.line() == #"0:S10{"lap":0} 5:U10{"lap":1}"#)
    }

    @Test func `a state equal to the last one sent spends nothing, and its version rises`() {
        var rig = Rig.running(until: 5)
        rig.update(lap: 0, until: 60)
        #expect(rig.line() == #"0:S10{"lap":0}"#)
        #expect(rig.view()?.version == 2)
        #expect(rig.view()?.destinations.first?.acknowledgedVersion == 2)
    }

    @Test func `the last value of a burst arrives within the spacing, anchored to the last send`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.laps(1...20, .high) { 10 + Double($0) * 0.07 }
        rig.advance(to: 60)
        #expect(rig.line(from: 1) == #"10.07:U10{"lap":1} 11.07:U10{"lap":15} 12.07:U10{"lap":20}"#)
    }

    @Test func `events without a pause do not starve the phone`() {
        var rig = Rig.running(.frequent)
        for tick in 0..<100 {
            rig.advance(to: 10 + Double(tick) * 0.1)
            rig.update(lap: tick + 1, .low)
        }
        rig.advance(to: 30)
        #expect(rig.line(from: 1) == #"10:U5{"lap":1} 15:U5{"lap":50} 20:U5{"lap":100}"#)
    }

    // MARK: 3 The grant is never exceeded

    @Test func `priority 10 never exceeds burst and rate in any window`() {
        var rig = Rig.running()
        rig.laps(0..<4_000, .high) { 2 + Double($0) * 2 }
        let high = rig.pushes.filter { $0.push.priority == 10 }.map(\.at.seconds)
        let low = rig.pushes.filter { $0.push.priority == 5 }.map(\.at.seconds)
        #expect(high.count > 10)
        for first in high.indices {
            for last in first..<high.count {
                let window = high[last] - high[first]
                #expect(Double(last - first + 1) <= 4 + 10 * window / 3_600 + 1e-6)
            }
        }
        #expect(zip(low, low.dropFirst()).allSatisfy { $1 - $0 >= 15 - 1e-9 })
    }

    @Test func `an attempt that was surely not processed gives its token back`() {
        var rig = Rig.running(until: 5)
        rig.answerFirst(3, with: .notSent(reason: "refused"))
        rig.update(lap: 1, .high, until: 60)
        let spent = rig.pushes.filter { $0.push.priority == 10 }.count
        #expect(spent == 5, "the start, three attempts and the one that counted")
        #expect(rig.pushes.last?.push.priority == 10)
    }

    @Test func `the budget is not spent a second time after a crash`() {
        var rig = Rig.running()
        for lap in 1...3 {
            rig.advance(to: Double(lap) * 3)
            rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"a","body":"b"}}"#)
        }
        let spent = rig.pushes.filter { $0.push.priority == 10 }.count
        #expect(spent == 4)
        #expect(rig.crash(recoverAt: 20).isEmpty)
        rig.update(lap: 9, .high, until: 100)
        #expect(rig.pushes.filter { $0.push.priority == 10 }.count == spent)
        #expect(rig.pushes.last?.push.priority == 5)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":9}"#)
    }

    // MARK: 4 Must before latest before frame

    @Test func `an end waits for no bucket, no spacing and no push in flight`() {
        var rig = Rig.running(until: 5)
        rig.verdict = { $0.event == .end ? .accepted : nil }
        rig.update(lap: 1)
        rig.command(.end, #"{"state":{"lap":2},"dismiss":"now"}"#)
        #expect(rig.line(from: 1) == #"5:U10{"lap":1} 5:E10{"lap":2}"#)
        rig.advance(to: 100)
        #expect(rig.pushes.count == 3, "nothing follows an end")
        #expect(rig.view()?.status == .ended)
        #expect(rig.view()?.destinations.first?.phase == "ended")
    }

    @Test func `an alert goes at 10 to the last token, then at 5, and expires`() {
        var rig = Rig.running(until: 2)
        for lap in 1...5 {
            rig.command(
                .update, #"{"state":{"lap":\#(lap)},"alert":{"title":"a"},"alert_ttl":"25s"}"#)
        }
        rig.advance(to: 120)
        let alerts = rig.pushes.dropFirst().filter { Rig.aps($0.push)?["alert"] != nil }
        #expect(alerts.map(\.push.priority) == [10, 10, 10, 5, 5])
        #expect(alerts.map(\.at.seconds) == [2, 3, 4, 5, 20])
        #expect(
            alerts.dropFirst().allSatisfy { Rig.state($0.push) == #"{"lap":5}"# },
            "each that waited carries the newest state")
    }

    @Test func `an alert past its time is dropped and its state still goes`() {
        var rig = Rig.running(until: 2)
        rig.verdict = { _ in nil }
        rig.update(lap: 1, .high)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"a"},"alert_ttl":"3s"}"#)
        rig.advance(to: 8)
        rig.verdict = { _ in .accepted }
        if let push = rig.flying.first { rig.answer(push, .accepted) }
        rig.advance(to: 60)
        #expect(rig.line(from: 2) == #"17:U5{"lap":2}"# || rig.line(from: 2) == #"8:U5{"lap":2}"#)
        #expect(rig.pushes.last.flatMap { Rig.aps($0.push)?["alert"] } == nil)
    }

    // MARK: 5 Start once

    @Test func `updates before the update token are held and never become further starts`() {
        var rig = Rig.started()
        rig.laps(1...5) { Double($0) * 10 }
        #expect(rig.line() == #"0:S10{"lap":0}"#)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "no_update_token")
        rig.advance(to: 60)
        rig.token("activity:cat", "bb")
        #expect(rig.line(from: 1) == #"60:U10{"lap":5}"#)
    }

    @Test func `an end that is held for a token goes first and alone`() {
        var rig = Rig.started()
        rig.update(lap: 1)
        rig.command(.end, #"{"dismiss":"now"}"#)
        rig.advance(to: 3_600)
        rig.token("activity:cat", "bb")
        rig.advance(to: 4_000)
        #expect(rig.line() == #"0:S10{"lap":0} 3600:E10{"lap":1}"#)
    }

    @Test func `a start that was not sent and its end cancel each other`() {
        var rig = Rig()
        rig.device()
        rig.start()
        rig.command(.end, #"{}"#)
        rig.token("start:Runner", "aa")
        rig.advance(to: 100)
        #expect(rig.pushes.isEmpty)
    }

    @Test func `a start of unknown outcome is not repeated, and a late token revives it`() {
        var rig = Rig.phone()
        rig.verdict = { $0.event == .start ? .unknown(reason: "cut") : .accepted }
        rig.start()
        rig.advance(to: 60)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "start_unknown")
        rig.update(lap: 1, until: 300)
        #expect(rig.view()?.destinations.first?.phase == "gone")
        rig.token("activity:cat", "bb")
        rig.advance(to: 400)
        #expect(rig.line() == #"0:S10{"lap":0} 300:U10{"lap":1}"#)
    }

    @Test func `resend repeats a start of unknown outcome once its deadline has passed`() {
        var rig = Rig.phone()
        rig.answerFirst(with: .unknown(reason: "cut"))
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"on_unknown_start":"resend"}"#
        )
        rig.advance(to: 600)
        #expect(rig.line() == #"0:S10{"lap":0} 120:S10{"lap":0}"#)
        #expect(rig.pushes[0].push.collapseID == rig.pushes[1].push.collapseID)
    }

    @Test func `a start that was tried before a crash is not tried again`() {
        var rig = Rig.phone()
        rig.verdict = { _ in nil }
        rig.start()
        #expect(rig.pushes.count == 1)
        _ = rig.crash(recoverAt: 1)
        rig.advance(to: 90)
        #expect(rig.pushes.count == 1)
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat", "bb")
        rig.advance(to: 120)
        #expect(rig.line(from: 1) == #"90:U10{"lap":0}"#)
    }

    @Test func `a token that is there already adopts the card without a start`() {
        var rig = Rig.phone()
        rig.token("activity:cat", "bb")
        rig.start()
        #expect(rig.line() == #"0:U10{"lap":0}"#)
    }

    /// Found by the simulation: the end of an adopted activity was annihilated, and its card
    /// stayed.
    @Test(arguments: [false, true])
    func `a card that its app has begun gets its end though its token comes late`(
        isBegunAnew: Bool
    ) {
        var rig = Rig.phone()
        let adopted = #"{"device":"phone","start":"adopt"}"#
        rig.command(.start, #"{"type":"Runner","audience":\#(adopted),"state":{"lap":0}}"#)
        rig.command(.end, #"{"dismiss":"now"}"#)
        if isBegunAnew {
            rig.start(lap: 1, restart: true)
        }
        #expect(rig.crash(recoverAt: 10).isEmpty)
        rig.advance(to: 60)
        rig.token("activity:cat", "bb")
        rig.advance(to: 90)
        let own = rig.pushes.filter { $0.push.token == "bb" }
        #expect(own.map(\.push.event) == [.end])
        #expect(own.map { Rig.state($0.push) } == [#"{"lap":0}"#])
    }

    // MARK: 6 One in flight, timestamps

    @Test func `one push is in flight at a time, and its silence ends after ten seconds`() {
        var rig = Rig.running(.frequent, until: 5)
        rig.verdict = { _ in nil }
        rig.update(lap: 1, .high)
        rig.update(lap: 2, .high, until: 14)
        #expect(rig.line(from: 1) == #"5:U10{"lap":1}"#)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 20)
        #expect(rig.line(from: 2) == #"16:U10{"lap":2}"#)
    }

    @Test
    func `timestamps are whole seconds, rise strictly, and stay within two seconds of the clock`() {
        var rig = Rig.running(.frequent)
        rig.laps(0..<60, .high) { 1 + Double($0) * 0.5 }
        let stamps = rig.pushes.compactMap { Rig.aps($0.push)?["timestamp"]?.integer }
        #expect(stamps.count == rig.pushes.count)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        for (stamp, marble) in zip(stamps, rig.pushes) {
            let wall = (Rig.epoch + marble.at).seconds
            #expect((wall...wall + 2).contains(stamp))
        }
    }

    @Test func `in lab a second is shared, and the trailing push is strictly newer`() {
        var rig = Rig.running(.lab, until: 10.5)
        for tick in 0..<8 {
            rig.advance(to: 10.5 + Double(tick) * 0.05)
            rig.update(lap: tick + 1)
        }
        rig.advance(to: 20)
        let stamps = rig.pushes.dropFirst().compactMap { Rig.aps($0.push)?["timestamp"]?.integer }
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(stamps.last! > stamps.dropLast().last!)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":8}"#)
    }

    // MARK: 7 Priority

    @Test func `priority follows urgency and what is left in the bucket`() {
        var rig = Rig()
        rig.runningActivity()  // takes one of four
        var line: [String] = []
        for (index, urgency) in ["normal", "normal", "high", "high", "low"].enumerated() {
            rig.advance(to: 20 + Double(index) * 20)
            let before = rig.pushes.count
            rig.command(.update, #"{"state":{"lap":\#(index + 1)},"urgency":"\#(urgency)"}"#)
            line += rig.pushes.dropFirst(before).map { "\(urgency) \($0.push.priority)" }
        }
        #expect(line == ["normal 10", "normal 5", "high 10", "high 5", "low 5"])
    }
}
