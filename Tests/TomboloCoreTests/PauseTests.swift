import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Rule 16: an operator's pause is durable; events are still taken, and on resume only the newest
/// state goes.
@Suite struct PauseTests {
    @Test(arguments: [
        #"{"all":true}"#, #"{"app":"com.example.app"}"#, #"{"type":"Runner"}"#,
        #"{"activity":"cat"}"#,
    ])
    func `a pause holds what it names, and on resume only the newest state goes`(scope: String) {
        var rig = Rig.running(until: 5)
        let pause = rig.pause(scope)
        rig.laps(1...3) { 5 + Double($0) * 60 }
        rig.advance(to: 300)
        #expect(rig.line() == #"0:S10{"lap":0}"#)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "paused")
        #expect(rig.view()?.version == 4)
        rig.resume(pause)
        rig.advance(to: 400)
        #expect(rig.line(from: 1) == #"300:U10{"lap":3}"#)
    }

    @Test func `the name of a pause comes once, also after a restart`() {
        var rig = Rig()
        let names = { (rig: borrowing Rig) in rig.core.pauses(of: Rig.tenant).map(\.name) }
        let first = rig.pause(#"{"all":true}"#)
        rig.resume(first)
        _ = rig.crash(recoverAt: 10)
        #expect(names(rig).isEmpty, "it is over")
        _ = rig.pause(#"{"all":true}"#)
        #expect(names(rig) == ["pause_2"])
        rig.resume(2)
        _ = rig.pause(#"{"type":"T"}"#)
        _ = rig.crash(recoverAt: 20)
        #expect(names(rig) == ["pause_3"])
        rig.resume(3)
        _ = rig.crash(recoverAt: 30)
        _ = rig.pause(#"{"all":true}"#)
        #expect(names(rig) == ["pause_4"])
    }

    @Test(arguments: [#"{"app":"com.other"}"#, #"{"type":"Other"}"#, #"{"activity":"dog"}"#])
    func `a pause does not hold other pushes`(scope: String) {
        var rig = Rig.running(until: 5)
        _ = rig.pause(scope)
        rig.update(lap: 1)
        #expect(rig.line(from: 1) == #"5:U10{"lap":1}"#)
    }

    @Test func `an end waits for a pause, and then goes alone`() {
        var rig = Rig.running(until: 5)
        let pause = rig.pause(#"{"all":true}"#)
        rig.update(lap: 1)
        rig.command(.end, #"{"dismiss":"now"}"#)
        rig.advance(to: 60)
        #expect(rig.pushes.count == 1)
        rig.resume(pause)
        #expect(rig.line(from: 1) == #"60:E10{"lap":1}"#)
    }

    @Test func `an alert past its time expires while paused, one within it still rings`() {
        for (ttl, rings) in [("20s", false), ("2m", true)] {
            var rig = Rig.running(until: 5)
            let pause = rig.pause(#"{"all":true}"#)
            rig.command(
                .update, #"{"state":{"lap":1},"alert":{"title":"a"},"alert_ttl":"\#(ttl)"}"#)
            rig.advance(to: 60)
            rig.resume(pause)
            rig.advance(to: 61)
            let alert = rig.pushes.last.flatMap { Rig.aps($0.push)?["alert"] }
            #expect((alert != nil) == rings)
            #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
        }
    }

    @Test func `with alerts paused updates go without theirs, and starts wait`() {
        var rig = Rig.running(until: 5)
        let pause = rig.pause(#"{"all":true,"alerts_only":true}"#)
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"a"}}"#)
        rig.start("b", lap: 7)
        rig.advance(to: 30)
        #expect(rig.line(from: 1) == #"5:U10{"lap":1}"#)
        #expect(rig.pushes.last.flatMap { Rig.aps($0.push)?["alert"] } == nil)
        rig.resume(pause)
        rig.advance(to: 31)
        let kinds = rig.pushes.dropFirst(2).map { Rig.letter($0.push.event) }
        #expect(kinds.sorted() == ["S", "U"], "the alert is still news, and the start goes")
    }

    @Test func `a pause outlives a crash`() {
        var rig = Rig.running(until: 5)
        let pause = rig.pause(#"{"type":"Runner","reason":"at night"}"#)
        #expect(rig.crash(recoverAt: 10).isEmpty)
        rig.update(lap: 1, until: 100)
        #expect(rig.pushes.count == 1)
        #expect(rig.core.pauses(of: Rig.tenant).map(\.reason) == ["at night"])
        rig.resume(pause)
        rig.advance(to: 120)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
        #expect(rig.crash(recoverAt: 130).isEmpty)
        #expect(rig.core.pauses(of: Rig.tenant).isEmpty)
    }

    @Test func `a pause of many cards is carried out in pieces`() throws {
        let cards = 1_000
        var rig = Rig { $0.limits.runningPerRecipientMax = .max }
        for card in 0..<cards {
            rig.command(
                .start, #"{"type":"Runner","audience":{"device":"d-\#(card)"},"state":{}}"#,
                id: "card-\(card)")
            rig.device("d-\(card)")
        }
        rig.advance(to: 5)
        let paused = { (rig: borrowing Rig) in
            (0..<cards).count {
                rig.view("card-\($0)")?.destinations.first?.waiting?.reason == "paused"
            }
        }
        let request = try PauseRequest(reading: Rig.json(#"{"all":true}"#))
        var effects = Effects()
        rig.core.step(
            .pause(.pause(request), Rig.tenant, Ticket(1)), now: rig.now, effects: &effects)
        let first = paused(rig)
        #expect(0 < first && first < cards / 2, "\(first) in one step")
        rig.advance(to: 6)
        #expect(paused(rig) == cards)
    }

    @Test func `frames asked for in a pause are counted as paused`() {
        var rig = Rig.running(.lab, until: 1)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 1.95)
        let pause = rig.pause(#"{"all":true}"#)
        rig.advance(to: 2.95)
        rig.resume(pause)
        rig.advance(to: 3.95)
        let frames = rig.view()!.destinations[0].frames
        #expect(frames.paused == 9, "the newest of the ten goes at once on resume")
        #expect(frames.asked == 30)
        #expect(frames.asked == frames.sent + frames.merged + frames.skipped)
    }

    @Test func `a pause of another tenant cannot be taken back`() {
        var rig = Rig()
        _ = rig.pause(#"{"all":true}"#)
        let other = TenantID(Identifier("other")!)
        rig.step(.pause(.resume(1), other, Ticket(9_999)))
        #expect(rig.lastRefusal == .unknownPause)
        #expect(rig.core.pauses(of: other).isEmpty)
    }

    @Test(arguments: [
        "{}", #"{"all":true,"app":"a"}"#, #"{"alerts_only":true}"#, #"{"everything":true}"#,
    ])
    func `a pause names one thing`(body: String) {
        #expect(throws: FieldErrors.self) { try PauseRequest(reading: Rig.json(body)) }
    }

    @Test func `the length of a reason is limited`() throws {
        func request(_ count: Int) throws -> PauseRequest {
            let reason = String(repeating: "é", count: count)
            return try PauseRequest(reading: Rig.json(#"{"all":true,"reason":"\#(reason)"}"#))
        }
        #expect(try request(Pause.reasonMax).reason?.count == Pause.reasonMax)
        #expect(throws: FieldErrors.self) { try request(Pause.reasonMax + 1) }
    }
}
