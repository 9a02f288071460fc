import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Sentences of the pacing rules that no other suite tells: the input line, and the line that comes
/// out.
@Suite struct PacingSentenceTests {
    private let busy = PushResult.refusal(503, "ServiceUnavailable", .upstream)
    private let tooMany = PushResult.refusal(429, "TooManyRequests", .tokenBackOff)

    private func stamps(_ rig: borrowing Rig) -> [Int64] {
        rig.pushes.compactMap { Rig.aps($0.push)?["timestamp"]?.integer }
    }

    // MARK: 1 Leading edge

    @Test func `an equal state goes all the same with an alert`() {
        var rig = Rig.running(until: 5)
        rig.command(.update, #"{"state":{"lap":0},"alert":{"title":"t"}}"#)
        #expect(rig.line(from: 1) == #"5:U10{"lap":0}"#)
    }

    @Test func `an equal state goes all the same where the last push may be lost`() {
        var rig = Rig.running(until: 5)
        rig.verdict = { _ in .unknown(reason: "cut") }
        rig.update(lap: 1, .low)
        rig.verdict = { _ in .accepted }
        rig.update(lap: 1, .low, until: 60)
        #expect(rig.line(from: 1) == #"5:U5{"lap":1} 20:U5{"lap":1}"#)
    }

    // MARK: 2 What holds a change is named

    @Test func `the answer names the wait reason and its end`() {
        func reason(_ prepare: (inout Rig) -> Void) -> String? {
            var rig = Rig.running(until: 10)
            prepare(&rig)
            return rig.view()?.destinations.first?.waiting?.reason
        }
        let change = #"{"state":{"lap":1},"urgency":"low"}"#
        let next = #"{"state":{"lap":2},"urgency":"low"}"#
        #expect(
            reason { rig in
                rig.command(.update, change)
                rig.command(.update, next)
            } == "low_priority_spacing")
        #expect(
            reason { rig in
                rig.verdict = { _ in nil }
                rig.command(.update, change)
                rig.command(.update, next)
            } == "in_flight")
        #expect(
            reason { rig in
                rig.verdict = { [tooMany] _ in tooMany }
                rig.command(.update, change)
            } == "token_back_off")
        #expect(
            reason { rig in
                rig.verdict = { _ in .notSent(reason: "no connection") }
                rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"t"}}"#)
                rig.advance(to: 11.05)
            } == "upstream_closed")
        #expect(
            reason { rig in
                rig.core.setCapacityForTests(0)
                rig.command(.update, change)
            } == "stream_limit")
        #expect(
            reason { rig in
                _ = rig.pause(#"{"all":true}"#)
                rig.command(.update, change)
            } == "paused")
    }

    // MARK: 4 Must before latest before frame

    @Test func `an end goes at 10, also where no tokens remain`() {
        for alerts in [1, 3, 9] {
            var rig = Rig.running()
            for lap in 1...alerts {
                rig.advance(to: Double(lap) * 3)
                rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"t"}}"#)
            }
            rig.command(.end, #"{"dismiss":"now"}"#)
            #expect(rig.pushes.last?.push.event == .end)
            #expect(rig.pushes.last?.push.priority == 10)
        }
    }

    @Test func `an end may share its second`() {
        var rig = Rig.running(.lab, until: 10)
        for lap in 1...5 { rig.command(.update, #"{"state":{"lap":\#(lap)}}"#) }
        rig.command(.end, #"{"dismiss":"now"}"#)
        #expect(rig.pushes.last?.push.event == .end)
        #expect(rig.pushes.last?.at == .seconds(10))
        #expect(stamps(rig).suffix(2) == [Rig.epoch.seconds + 12, Rig.epoch.seconds + 12])
    }

    @Test func `an end waits for a token's back-off, and a parked upstream`() {
        for result in [tooMany, .notSent(reason: "no connection")] {
            var rig = Rig.running(until: 10)
            rig.verdict = { _ in result }
            rig.update(lap: 1)
            rig.verdict = { _ in .accepted }
            let before = rig.pushes.count
            rig.command(.end, #"{"dismiss":"now"}"#)
            #expect(rig.pushes.count == before)
            rig.advance(to: 20)
            #expect(rig.pushes.dropFirst(before).map(\.push.event) == [.end])
        }
    }

    @Test func `when a stream is free, an end goes before what came first`() {
        var rig = Rig()
        rig.device("phone", .lab)
        for id in ["a", "b", "c"] {
            rig.token("activity:\(id)", "aa0\(id)")
            rig.start(id)
        }
        rig.advance(to: 10)
        rig.core.setCapacityForTests(0)
        let before = rig.pushes.count
        rig.command(.update, #"{"state":{"lap":1}}"#, id: "a")
        rig.command(.update, #"{"state":{"lap":1}}"#, id: "b")
        rig.command(.end, #"{}"#, id: "c")
        #expect(rig.pushes.count == before)
        rig.step(.capacity(UpstreamNumber(0), 100))
        rig.advance(to: 11)
        let order = rig.pushes.dropFirst(before).map { $0.push.token.suffix(1) }
        #expect(order == ["c", "a", "b"])
    }

    @Test func `a start's alert does not expire while the start waits`() {
        var rig = Rig()
        rig.device()
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"#
                + #""alert":{"title":"go"},"alert_ttl":"5s"}"#)
        rig.advance(to: 600)
        rig.token("start:Runner", "aa")
        #expect(rig.line() == #"600:S10{"lap":0}"#)
        #expect(Rig.aps(rig.pushes[0].push)?["alert"]?["title"]?.string == "go")
    }

    @Test func `at most eight alerts wait, and older ones expire first`() {
        for count in [8, 9] {
            var rig = Rig.running(.lab, until: 10)
            let pause = rig.pause(#"{"activity":"cat"}"#)
            for lap in 1...count {
                rig.command(.update, #"{"state":{"lap":\#(lap)},"alert":{"title":"\#(lap)"}}"#)
            }
            rig.advance(to: 20)
            rig.resume(pause)
            rig.advance(to: 60)
            let titles = rig.pushes.dropFirst()
                .compactMap { Rig.aps($0.push)?["alert"]?["title"]?.string }
            #expect(titles == (count - 7...count).map(String.init))
        }
    }

    // MARK: 5 Start once

    @Test func `a start that is sent again rings again: the one case`() {
        var rig = Rig.phone()
        rig.answerFirst(with: .unknown(reason: "cut"))
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{},"#
                + #""alert":{"title":"go"},"on_unknown_start":"resend"}"#)
        rig.advance(to: 600)
        let titles = rig.pushes.map { Rig.aps($0.push)?["alert"]?["title"]?.string }
        #expect(titles == ["go", "go"])
    }

    /// A card that shows up later all the same is ended, which costs nothing.
    @Test func `an end is held for a token twelve hours, and then has expired`() {
        for (hours, phase, expired) in [(11.9, "started", Int64(0)), (12.1, "gone", 1)] {
            var rig = Rig.phone()
            rig.command(.start, #"{"type":"Runner","audience":{"device":"phone"},"state":{}}"#)
            rig.command(.end, #"{"dismiss":"now"}"#)
            rig.advance(to: hours * 3_600)
            #expect(rig.ledgers().first?.phase == phase, "after \(hours) h")
            #expect(rig.ledgers().first?.ledger.counts.expired == expired)
        }
    }

    // MARK: 6 Timestamps

    @Test func `a timestamp is above the app's own last update`() {
        var rig = Rig.running(until: 10)
        let own = (Rig.epoch + .seconds(11)).rfc3339
        rig.report("cat", #"{"phase":"active","last_local_update":"\#(own)"}"#)
        rig.update(lap: 1, until: 20)
        #expect(stamps(rig)[1] == Rig.epoch.seconds + 12)
    }

    @Test func `an update of the app's own that is far ahead counts as now`() {
        for (ahead, stamp) in [(59, 60), (61, 11)] {
            var rig = Rig.running(until: 10)
            let own = (Rig.epoch + .seconds(Int64(10 + ahead))).rfc3339
            rig.report("cat", #"{"phase":"active","last_local_update":"\#(own)"}"#)
            rig.update(lap: 1, until: 120)
            let first = stamps(rig).dropFirst().first ?? 0
            let expected = Int64(ahead > 60 ? stamp : stamp + 10)
            #expect(first == Rig.epoch.seconds + expected)
        }
    }

    @Test func `a stored timestamp ahead of the clock holds nothing`() {
        var rig = Rig.running(until: 10)
        var recovery = rig.recovery()
        // The wall clock was set back by a minute while no relay ran.
        recovery.lead = .seconds(-60)
        recovery.before = .init(
            reading: rig.now, toldThrough: rig.now, steadyThrough: rig.now)
        rig.recover(recovery)
        let before = rig.pushes.count
        rig.update(lap: 1, until: 12)
        rig.command(.end, "{}")
        #expect(rig.pushes.dropFirst(before).map(\.push.event) == [.update, .end])
    }

    // MARK: 13 Renewal, 14 Refusals, 16 Pause

    @Test func `every start carries a stale date`() {
        for (own, after) in [("", Int64(8 * 3_600)), (#","stale_after":"5m""#, 300)] {
            var rig = Rig.phone()
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"phone"},"state":{}"# + own + "}")
            let stale = Rig.aps(rig.pushes[0].push)?["stale-date"]?.integer
            #expect(stale == Rig.epoch.seconds + after)
        }
    }

    @Test func `an alert that met an unwell Apple waits again, within its time`() {
        for (ttl, rings) in [("2m", 2), ("1s", 1)] {
            var rig = Rig.running(until: 10)
            var refusals = 1
            rig.verdict = { [busy] _ in
                refusals -= 1
                return refusals >= 0 ? busy : .accepted
            }
            rig.command(
                .update, #"{"state":{"lap":1},"alert":{"title":"t"},"alert_ttl":"\#(ttl)"}"#)
            rig.advance(to: 60)
            let alerts = rig.pushes.dropFirst().count { Rig.aps($0.push)?["alert"] != nil }
            #expect(alerts == rings, "\(ttl)")
            #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
        }
    }

    @Test func `a stream limit of one is obeyed and recovered from`() {
        var rig = Rig()
        rig.device("phone", .lab)
        for id in ["a", "b", "c"] {
            rig.token("activity:\(id)", "aa0\(id)")
            rig.start(id)
        }
        rig.advance(to: 10)
        rig.verdict = { _ in nil }
        rig.step(.capacity(UpstreamNumber(0), 1))
        for id in ["a", "b", "c"] { rig.command(.update, #"{"state":{"lap":1}}"#, id: id) }
        #expect(rig.flying.count == 1)
        rig.step(.capacity(UpstreamNumber(0), 100))
        #expect(rig.flying.count == 3)
    }

    @Test(arguments: [
        #"{"all":true}"#, #"{"app":"com.example.app"}"#, #"{"type":"Runner"}"#,
        #"{"activity":"cat"}"#,
    ])
    func `a pause holds all, an app, a type or an activity, and resumes with the newest`(
        _ scope: String
    ) {
        var rig = Rig.running(until: 10)
        let pause = rig.pause(scope)
        for lap in 1...3 { rig.command(.update, #"{"state":{"lap":\#(lap)},"urgency":"low"}"#) }
        rig.advance(to: 100)
        #expect(rig.line(from: 1).isEmpty)
        #expect(rig.view()?.version == 4, "events are still taken")
        rig.resume(pause)
        rig.advance(to: 200)
        #expect(rig.line(from: 1) == #"100:U5{"lap":3}"#)
    }

    // MARK: apns-expiration

    @Test func `each push expires when its kind says`() {
        var rig = Rig.running(until: 10)
        rig.update(lap: 1, .low, until: 40)
        rig.command(.update, #"{"state":{"lap":2},"urgency":"low","stale_after":"5m"}"#)
        rig.advance(to: 70)
        rig.command(.update, #"{"state":{"lap":3},"alert":{"title":"t"},"alert_ttl":"90s"}"#)
        rig.advance(to: 100)
        rig.command(.end, "{}")
        let left = rig.pushes.map { at, push in push.expiration - (Rig.epoch + at).seconds }
        #expect(left == [600, 3_600, 300, 90, 4 * 3_600])
    }
}
