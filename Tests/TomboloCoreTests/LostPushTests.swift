import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A push that came to nothing, or may have: what it was for is wanted still (pacing rules 2 and
/// 14).
@Suite struct LostPushTests {
    static let fates: [PushResult] = [
        .refusal(503, "ServiceUnavailable", .upstream),
        .refusal(429, "TooManyRequests", .tokenBackOff),
        .notSent(reason: "no connection"), .unknown(reason: "cut"),
    ]

    static let causes: [(PushResult, String)] = [
        (fates[0], "apple_error"), (fates[1], "token_back_off"), (fates[3], "no_answer"),
        (
            .refusal(410, "Unregistered", .tokenGone, since: Rig.epoch - .minutes(1)),
            "token_doubted"
        ),
    ]

    @Test(arguments: causes) func `the wait reason after an answer has the answer's name`(
        _ answer: PushResult, _ reason: String
    ) {
        var rig = Rig.running(.lab, until: 20)
        var answers = 0
        rig.verdict = { _ in
            answers += 1
            return answers == 1 ? answer : .accepted
        }
        rig.update(lap: 1)
        #expect(rig.view()?.destinations.first?.waiting?.reason == reason)
        rig.advance(to: 60)
        #expect(answers == 2)
        let held = rig.facts.compactMap(DeliveryRecord.init).last?.held.map(\.reason.name)
        #expect(held == [reason])
    }

    @Test(arguments: fates) func `the last value of a clip goes again`(_ fate: PushResult) {
        for budgetClass in [BudgetClass.standard, .lab] {
            var rig = Rig.running(budgetClass, until: 20)
            rig.command(
                .play, #"{"tween":{"path":"/lap","from":0,"to":9,"duration":"2s"},"fit":"step"}"#)
            var lost = 0
            rig.verdict = { push in
                guard Rig.state(push) == #"{"lap":9}"#, lost == 0 else { return .accepted }
                lost += 1
                return fate
            }
            rig.advance(to: 120)
            let last = rig.pushes.filter { Rig.state($0.push) == #"{"lap":9}"# }
            #expect(lost == 1, "\(budgetClass)")
            #expect(last.count >= 2, "\(budgetClass): \(rig.line())")
        }
    }

    @Test(arguments: fates) func `a push gets a second of its own in the end`(_ fate: PushResult) {
        var rig = Rig.running(.lab, until: 10.5)
        for tick in 0..<8 {
            rig.advance(to: 10.5 + Double(tick) * 0.05)
            rig.update(lap: tick + 1)
        }
        var stamps: [Int64] = []
        var lost = 0
        rig.verdict = { push in
            lost += 1
            if lost == 1 { return fate }
            stamps.append(Rig.aps(push)?["timestamp"]?.integer ?? 0)
            return .accepted
        }
        rig.advance(to: 60)
        #expect(lost == 2, "\(rig.line())")
    }

    @Test(arguments: fates) func `a stale date that is due is moved on all the same`(
        _ fate: PushResult
    ) {
        var rig = Rig.running(until: 20)
        rig.command(.update, #"{"state":{"lap":1},"stale_after":"10m","urgency":"low"}"#)
        // The producer repeats itself.
        rig.advance(to: 200)
        rig.update(lap: 1)
        var lost = 0
        rig.verdict = { _ in
            lost += 1
            return lost == 1 ? fate : .accepted
        }
        rig.advance(to: 20 + 301)
        #expect(lost == 1)
        rig.advance(to: 20 + 400)
        #expect(lost == 2, "\(rig.line())")
    }

    @Test func `a longer time to the stale date is told before the shorter is over`() {
        var rig = Rig.running(until: 20)
        rig.command(.update, #"{"state":{"lap":1},"stale_after":"1m","urgency":"low"}"#)
        rig.command(.update, #"{"state":{"lap":1},"stale_after":"1h","urgency":"low"}"#)
        rig.advance(to: 90)
        let stale = rig.pushes.compactMap { Rig.aps($0.push)?["stale-date"]?.integer }
        #expect(stale.last ?? 0 > Rig.epoch.seconds + 3_600, "\(rig.line())")
    }

    @Test func `a stale date is moved on in time however often a relay starts again`() {
        var rig = Rig.running(until: 20)
        rig.command(.update, #"{"state":{"lap":1},"stale_after":"10m","urgency":"low"}"#)
        for start in 1...4 {
            rig.advance(to: 20 + Double(start) * 200 - 0.1)
            #expect(rig.crash(recoverAt: 20 + Double(start) * 200).isEmpty)
            // The producer repeats itself.
            rig.update(lap: 1, .low, until: 20 + Double(start) * 200 + 0.1)
        }
        rig.advance(to: 900)
        var last = Int64.max
        for (at, push) in rig.pushes {
            #expect((Rig.epoch + at).seconds < last, "stale before \(Rig.text(at))")
            last = Rig.aps(push)?["stale-date"]?.integer ?? last
        }
        #expect(rig.pushes.count > 3)
    }

    @Test func `an end at 10 that may have gone before a crash is counted`() {
        var rig = Rig.phone()
        // Four activities, and all that their device has at priority 10 but one.
        for id in ["a", "b", "c", "d"] {
            rig.start(id)
            rig.token("activity:\(id)", "bb0\(id)")
        }
        for lap in 1...3 {
            for id in ["a", "b", "c", "d"] where !(id == "d" && lap == 3) {
                rig.advance(to: Double(lap) * 20)
                rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"t"}}"#, id: id)
            }
        }
        rig.advance(to: 70)
        #expect(rig.pushes.count { $0.push.priority == 10 } == 15)
        rig.command(.end, #"{"dismiss":"now"}"#, id: "d")
        #expect(rig.pushes.last?.push.event == .end)
        #expect(rig.pushes.last?.push.priority == 10)
        #expect(rig.crash(recoverAt: 71).isEmpty)
        rig.command(.update, #"{"state":{"lap":9},"alert":{"title":"t"}}"#, id: "a")
        rig.advance(to: 80)
        let others = rig.pushes.count { $0.push.priority == 10 && $0.push.event != .end }
        #expect(others == 15, "\(rig.line(from: 15))")
    }

    @Test func `a start that a phone tells of is not repeated`() {
        for policy in ["resend", "give_up"] {
            var rig = Rig.phone()
            rig.verdict = { _ in .unknown(reason: "cut") }
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"#
                    + #""on_unknown_start":"\#(policy)"}"#)
            rig.advance(to: 30)
            rig.verdict = { _ in .accepted }
            rig.report("cat", #"{"phase":"active"}"#)
            rig.advance(to: 300)
            #expect(rig.pushes.count == 1, "\(policy): \(rig.line())")
            #expect(rig.view()?.destinations.first?.phase == "started", "\(policy)")
        }
    }

    @Test func `the last value of a clip that a crash has cut off goes again`() {
        var rig = Rig.running(until: 20)
        rig.command(
            .play, #"{"tween":{"path":"/lap","from":0,"to":9,"duration":"2s"},"fit":"step"}"#)
        rig.verdict = { _ in nil }
        rig.advance(to: 25)
        #expect(rig.line(from: 1).hasSuffix(#"{"lap":9}"#))
        let before = rig.pushes.count
        rig.verdict = { _ in .accepted }
        #expect(rig.crash(recoverAt: 26).isEmpty)
        rig.advance(to: 60)
        #expect(rig.pushes.count == before + 1)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":9}"#)
    }

    @Test(arguments: fates) func `a bundle that goes on after the app was in front goes again`(
        _ fate: PushResult
    ) {
        var rig = Rig()
        rig.type(#"{"plays":true}"#)
        rig.runningActivity()
        rig.advance(to: 100)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 110)
        rig.presence(.active)
        rig.advance(to: 140)
        var lost = 0
        rig.verdict = { _ in
            lost += 1
            return lost == 1 ? fate : .accepted
        }
        rig.presence(.background)
        rig.advance(to: 200)
        #expect(lost == 2, "\(rig.line())")
        #expect(rig.pushes.last.map { Rig.json(Rig.state($0.push))["clip"] != nil } == true)
    }

    @Test(arguments: [610.0, 100]) func `an echo that met an unwell Apple goes again`(_ due: Double)
    {
        var rig = Rig.running(until: 10)
        rig.update(lap: 1, .high, until: 99)
        var lost = 0
        rig.verdict = { [fate = Self.fates[0]] _ in
            lost += 1
            return lost == 1 ? fate : .accepted
        }
        if due == 100 { rig.presence(.background) }
        rig.advance(to: due + 30)
        #expect(rig.pushes.dropFirst(2).map(\.push.priority) == [5, 5], "\(rig.line())")
    }

    @Test func `too many requests hold back every start to the same token`() {
        var rig = Rig.phone()
        rig.token("start:Other", "ab")
        var isWell = false
        rig.verdict = { [fate = Self.fates[1]] push in
            push.token == "aa" && !isWell ? fate : .accepted
        }
        func start(_ type: String, _ id: String) {
            rig.command(
                .start, #"{"type":"\#(type)","audience":{"device":"phone"},"state":{"lap":0}}"#,
                id: id)
        }
        start("Runner", "a")
        rig.advance(to: 0.5)
        start("Runner", "b")
        start("Other", "c")
        rig.advance(to: 0.9)
        #expect(rig.pushes.map(\.push.token) == ["aa", "ab"], "\(rig.line())")
        #expect(rig.view("b")?.destinations.first?.waiting?.reason == "token_back_off")
        isWell = true
        rig.advance(to: 5)
        #expect(rig.pushes.map(\.push.token) == ["aa", "ab", "aa", "aa"])
    }

    @Test func `a new start token waits for no back-off of the one before`() {
        var rig = Rig.phone()
        rig.verdict = { [fate = Self.fates[1]] in $0.token == "aa" ? fate : .accepted }
        for id in ["a", "b"] {
            rig.start(id)
        }
        rig.token("start:Runner", "a2")
        rig.advance(to: 0.9)
        #expect(rig.pushes.map(\.push.token) == ["aa", "a2"])
    }

    @Test func `an echo that was due while no relay ran goes when one runs again`() {
        for (down, echoes) in [(590.0, 1), (700, 1), (100, 0)] {
            var rig = Rig.running(until: 5)
            rig.update(lap: 1, .low, until: 60)
            let before = rig.pushes.count
            #expect(rig.crash(recoverAt: down).isEmpty)
            rig.advance(to: max(down + 60, echoes == 0 ? 0 : 700))
            #expect(rig.pushes.count == before + echoes, "\(rig.line())")
            #expect(rig.crash(recoverAt: 2_000).isEmpty)
            rig.advance(to: 3_000)
            #expect(rig.pushes.count == before + 1, "once: \(rig.line())")
        }
    }

    @Test func `a relay after a crash knows the app's own last update`() {
        var rig = Rig.running(until: 10)
        let own = (Rig.epoch + .seconds(60)).rfc3339
        rig.report("cat", #"{"phase":"active","last_local_update":"\#(own)"}"#)
        rig.advance(to: 15)
        #expect(rig.crash(recoverAt: 20).isEmpty)
        rig.update(lap: 1, until: 120)
        let stamps = rig.pushes.dropFirst().compactMap {
            Rig.aps($0.push)?["timestamp"]?.integer
        }
        #expect(stamps.first == Rig.epoch.seconds + 61)
    }

    @Test func `frames without a card count as having no route`() {
        var rig = Rig.started(.lab, until: 10)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 20)
        #expect(rig.view()?.destinations.first?.frames.noRoute == 101)
        rig.command(.stop, "{}")
        rig.advance(to: 30)
        rig.token("activity:cat", "bb")
        rig.advance(to: 40)
        let counts = rig.ledgers().first?.frames
        #expect(counts?.asked == 101)
        #expect(counts?.noRoute == 101)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 50)
        rig.report("cat", #"{"phase":"dismissed"}"#)
        rig.advance(to: 60)
        rig.command(.stop, "{}")
        rig.advance(to: 70)
        let all = rig.ledgers().first?.frames
        #expect(all?.asked == 302)
        #expect((200...202).contains(all?.noRoute ?? 0), "\(String(describing: all))")
    }
}
