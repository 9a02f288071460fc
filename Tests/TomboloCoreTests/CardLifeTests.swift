import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What time does to a card (pacing rules 5, 13 and 14): the system ends it after 8 hours, a new
/// one may take its place before, and a token may go.
@Suite struct CardLifeTests {
    static let hour = 3_600.0
    static let gone = PushResult.refusal(410, "Unregistered", .tokenGone)

    /// A card that runs since second 0, of an activity with more fields in its start.
    static func running(
        _ fields: String, os: String? = nil, user: String? = nil, until seconds: Double? = nil
    ) -> Rig {
        var rig = Rig.phone(.standard, user: user, os: os)
        let audience = user.map { #"{"user":"\#($0)"}"# } ?? #"{"device":"phone"}"#
        rig.command(
            .start,
            #"{"type":"Runner","audience":\#(audience),"state":{"lap":0},"#
                + #""alert":{"title":"go"}"# + fields + "}")
        rig.token("activity:cat", "bb")
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    static func phases(_ rig: borrowing Rig) -> [String] {
        rig.view()?.destinations.map(\.phase) ?? []
    }

    // MARK: A clock that was wrong

    @Test func `a card that began by a clock years behind lives on when that is set right`() {
        var rig = Self.running("", until: 60)
        rig.step(.clock(lead: .hours(24 * 3_650)))
        rig.advance(to: 120)
        let before = rig.pushes.count
        rig.update(lap: 1)
        rig.command(.end, "{}")
        // What it had before went once more, for its phone had dropped it.
        #expect(rig.line(from: before) == #"120:U5{"lap":1} 120:E10{"lap":1}"#)
        #expect(Self.phases(rig) == ["ended"])
    }

    @Test func `a card lives on also where the relay began again by the right clock`() {
        var rig = Self.running("", until: 60)
        var recovery = rig.recovery()
        recovery.lead = .hours(24 * 3_650)
        #expect(rig.recover(recovery) == [])
        rig.advance(to: 8 * Self.hour - 1)
        #expect(Self.phases(rig) == ["live"])
        rig.advance(to: 8 * Self.hour + 1)
        #expect(Self.phases(rig) == ["lapsed"])
    }

    /// A core after a reboot: the machine was off so long, by its clock.
    private static func rebooted(_ rig: inout Rig, off gap: Span) {
        var recovery = rig.recovery()
        recovery.leads.note(.zero, at: Rig.epoch)
        recovery.leads.note(gap, at: rig.now, afterGap: gap)
        recovery.lead = gap
        #expect(rig.recover(recovery) == [])
    }

    @Test func `the hours in which the machine was off let a card be renewed earlier`() {
        var rig = Self.running(#","renew":"always""#, until: 60)
        Self.rebooted(&rig, off: .hours(5))
        let due = 3 * Self.hour - 1_200
        rig.advance(to: due - 1)
        #expect(Self.phases(rig) == ["live"])
        rig.advance(to: due + 1)
        #expect(Self.phases(rig) == ["live", "started"])
    }

    @Test func `a clock that was wrong after a reboot renews no card`() {
        var rig = Self.running(#","renew":"always""#, until: 60)
        Self.rebooted(&rig, off: .hours(9))
        rig.advance(to: 300)
        rig.step(.clock(lead: .zero))
        rig.advance(to: 7 * Self.hour)
        #expect(Self.phases(rig) == ["live"])
        rig.advance(to: 8 * Self.hour - 1_199)
        #expect(Self.phases(rig) == ["live", "started"])
    }

    // MARK: The eighth hour

    @Test func `after eight hours the card is the system's, and gets nothing more`() {
        var rig = Self.running("", until: 8 * Self.hour - 1)
        let before = rig.pushes.count
        rig.update(lap: 1)
        #expect(rig.line(from: before) == #"28799:U10{"lap":1}"#)
        rig.advance(to: 8 * Self.hour + 1)
        rig.update(lap: 2)
        rig.command(.end, "{}")
        rig.advance(to: 14 * Self.hour)
        #expect(rig.pushes.count == before + 1)
        #expect(Self.phases(rig) == ["lapsed"])
        let ledger = rig.core.ledgers(
            of: ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!), now: rig.now)?.first
        #expect(ledger?.ledger.waiting(at: 4) == 0)
    }

    /// Found by the simulation: a phone that was offline reported the token of a card that was
    /// over.
    @Test func `a token from before the end does not bring a card back, one from after does`()
        throws
    {
        var rig = Self.running("", until: 8 * Self.hour + 60)
        #expect(Self.phases(rig) == ["lapsed"])
        let seen = [("cc", -120.0, "lapsed"), ("dd", -1, "live")]
        for (token, seconds, phase) in seen {
            let at = rig.now + .milliseconds(Int64(seconds * 1_000))
            let registration = try TokenRegistration(
                reading: Rig.json(#"{"token":"\#(token)","observed_at":"\#(at.rfc3339)"}"#))
            let name = try #require(TokenName("activity:cat"))
            rig.tell(.putToken(name, registration))
            #expect(Self.phases(rig) == [phase])
            rig.command(.update, #"{"state":{"token":"\#(token)"}}"#)
            rig.advance(to: 8 * Self.hour + (phase == "live" ? 240 : 120))
            let state = #"{"lap":0,"token":"\#(token)"}"#
            let isSent = rig.pushes.contains { Rig.state($0.push) == state }
            #expect(isSent == (phase == "live"), "\(rig.line(from: 0))")
        }
    }

    /// Found by the simulation: the last token that the relay knew was dead before the card was
    /// over.
    @Test func `nor does it where the card's token was gone before its end`() throws {
        for (hours, phase) in [(7.5, "gone"), (8.01, "live")] {
            var rig = Self.running("", until: 7 * Self.hour)
            rig.verdict = { $0.token == "bb" ? Self.gone : .accepted }
            rig.update(lap: 1)
            #expect(Self.phases(rig) == ["unreachable"])
            rig.advance(to: 8 * Self.hour + 60)
            let seen = Rig.epoch + .milliseconds(Int64(hours * Self.hour * 1_000))
            let registration = try TokenRegistration(
                reading: Rig.json(
                    #"{"token":"cc","observed_at":"\#(seen.rfc3339)"}"#))
            let name = try #require(TokenName("activity:cat"))
            rig.tell(.putToken(name, registration))
            #expect(Self.phases(rig) == [phase])
            rig.update(lap: 2, until: 8 * Self.hour + 180)
            #expect(rig.pushes.contains { $0.push.token == "cc" } == (phase == "live"))
        }
    }

    @Test func `the newest state is held for a token eight hours at most`() {
        var rig = Rig.started()
        rig.update(lap: 1, until: 8 * Self.hour - 1)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "no_update_token")
        rig.advance(to: 8 * Self.hour)
        #expect(Self.phases(rig) == ["lapsed"])
    }

    @Test func `a token that comes after the eighth hour is a new card's`() {
        var rig = Self.running("", until: 9 * Self.hour)
        let before = rig.pushes.count
        rig.token("activity:cat", "cc")
        rig.update(lap: 1, until: 9 * Self.hour + 20)
        #expect(rig.pushes.count > before)
        #expect(rig.pushes.dropFirst(before).allSatisfy { $0.push.token == "cc" })
        rig.advance(to: 16.9 * Self.hour)
        #expect(Self.phases(rig) == ["live"])
        rig.advance(to: 17 * Self.hour)
        #expect(Self.phases(rig) == ["lapsed"])
    }

    @Test func `a card's age survives a crash`() {
        var rig = Self.running("", until: 4 * Self.hour)
        #expect(rig.crash(recoverAt: 4 * Self.hour) == [])
        rig.advance(to: 8 * Self.hour - 1)
        #expect(Self.phases(rig) == ["live"])
        rig.advance(to: 8 * Self.hour)
        #expect(Self.phases(rig) == ["lapsed"])
    }

    // MARK: Renewal

    @Test func `a card is renewed before its end, and the old one goes when the new has its route`()
    {
        var rig = Self.running(#","renew":"always""#, os: "18.1", until: 8 * Self.hour - 1_201)
        let before = rig.pushes.count
        rig.advance(to: 8 * Self.hour - 1_200)
        #expect(rig.line(from: before) == #"27600:S10{"lap":0}"#)
        let start = rig.pushes[before].push
        #expect(Rig.aps(start)?["attributes"]?["activity_id"]?.string == "cat~1.1")
        #expect(Rig.aps(start)?["alert"]?["title"]?.string == "", "the old card's has rung")
        #expect(Rig.aps(start)?["stale-date"] != nil)
        rig.update(lap: 1, until: 8 * Self.hour - 1_190)
        #expect(rig.pushes.last?.push.token == "bb", "the old card lives until the new can")
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 8 * Self.hour - 1_150)
        let last = rig.pushes.dropFirst(before + 2).map(\.push)
        #expect(last.map(\.event) == [.end, .update])
        #expect(last.map(\.token) == ["bb", "cc"])
        #expect(Rig.aps(last[0])?["dismissal-date"] != nil, "at once, not hours later")
        #expect(Self.phases(rig) == ["ended", "live"])
    }

    @Test func `a new card without a route in ten minutes is stranded, and there is no second try`()
    {
        var rig = Self.running(#","renew":"always""#, until: 8 * Self.hour - 1_200)
        rig.update(lap: 1, until: 8 * Self.hour - 601)
        #expect(rig.view()?.destinations.last?.waiting?.reason == "no_update_token")
        rig.advance(to: 8 * Self.hour - 599)
        #expect(rig.view()?.destinations.last?.waiting?.reason == "stranded")
        #expect(Self.phases(rig) == ["live", "started"])
        rig.advance(to: 9 * Self.hour)
        #expect(rig.pushes.filter { $0.push.event == .start }.count == 2)
        #expect(!rig.pushes.contains { $0.push.event == .end })
        #expect(Self.phases(rig) == ["lapsed", "started"])
    }

    @Test func `a stranded card that gets its token at last takes over`() {
        var rig = Self.running(#","renew":"always""#, until: 8 * Self.hour - 100)
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 8 * Self.hour - 50)
        #expect(Self.phases(rig) == ["ended", "live"])
    }

    @Test func `nothing is renewed after a dismissal, without being asked, or after the end`() {
        for (fields, change) in [
            ("", ""), (#","renew":"always""#, "dismiss"), (#","renew":"always""#, "end"),
        ] {
            var rig = Self.running(fields, until: 60)
            if change == "end" { rig.command(.end, "{}") }
            if change == "dismiss" {
                rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
            }
            rig.advance(to: 13 * Self.hour)
            #expect(rig.pushes.filter { $0.push.event == .start }.count == 1, "\(change)")
        }
    }

    @Test func `a successor that has to wait for its start does not outlive its predecessor`() {
        for isSwiped in [true, false] {
            var rig = Self.running(#","renew":"always""#, until: 8 * Self.hour - 1_300)
            // Its own start is refused for a while, and what was swiped away is heard of meanwhile.
            rig.verdict = {
                $0.event == .start
                    ? .refusal(429, "TooManyRequests", .tokenBackOff) : Self.gone
            }
            rig.advance(to: 8 * Self.hour - 1_190)
            if isSwiped {
                rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
            } else {
                rig.update(lap: 1)
            }
            rig.verdict = { _ in .accepted }
            let before = rig.pushes.filter { $0.push.event == .start }.count
            rig.advance(to: 9 * Self.hour)
            #expect(rig.pushes.filter { $0.push.event == .start }.count == before, "\(isSwiped)")
            #expect(Self.phases(rig) == ["gone", "gone"])
        }
    }

    @Test func `a successor's start of unknown outcome is not repeated after a dismissal`() {
        var rig = Self.running(
            #","renew":"always","on_unknown_start":"resend""#, until: 8 * Self.hour - 1_300)
        rig.verdict = {
            $0.event == .start ? .unknown(reason: "the connection broke") : .accepted
        }
        rig.advance(to: 8 * Self.hour - 1_190)
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        rig.verdict = { _ in .accepted }
        let before = rig.pushes.filter { $0.push.event == .start }.count
        #expect(before == 2)
        rig.advance(to: 9 * Self.hour)
        #expect(rig.pushes.filter { $0.push.event == .start }.count == before)
    }

    @Test(arguments: ["ended", "dismissed"], [false, true])
    func `a token that comes after the phone's last word is kept and not used`(
        phase: String, restarts: Bool
    ) {
        var rig = Rig.running(until: 60)
        rig.report("cat", #"{"phase":"\#(phase)"}"#)
        rig.advance(to: 85)
        if restarts { _ = rig.crash(recoverAt: 90) }
        rig.token("activity:cat", "bc")
        let before = rig.pushes.count
        rig.advance(to: 120)
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"a"}}"#)
        rig.advance(to: 1_200)
        #expect(rig.line(from: before) == "")
    }

    @Test func `a token is deleted only by its own value`() {
        var rig = Rig.running()
        rig.token("activity:cat", "bc")
        rig.advance(to: 60)
        rig.deleteToken("activity:cat", "bb")
        let before = rig.pushes.count
        rig.update(lap: 1, .high)
        #expect(rig.line(from: before) == #"60:U10{"lap":1}"#)
        rig.deleteToken("activity:cat", "bc")
        rig.advance(to: 120)
        rig.update(lap: 2, .high)
        #expect(rig.line(from: before) == #"60:U10{"lap":1}"#)
    }

    @Test func `a token that was late does not get a dismissed card a successor`() {
        for crashes in [false, true] {
            var rig = Self.running(#","renew":"always""#)
            rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
            rig.token("activity:cat", "cc")
            #expect(Self.phases(rig) == ["gone"], "the phone's word is the last")
            rig.advance(to: 60)
            if crashes { #expect(rig.crash(recoverAt: 61) == []) }
            rig.advance(to: 13 * Self.hour)
            #expect(rig.pushes.filter { $0.push.event == .start }.count == 1, "\(crashes)")
        }
    }

    @Test func `a type says whether its activities are renewed, and a start knows better`() {
        var rig = Rig()
        rig.type(#"{"renew":"always"}"#)
        rig.device()
        rig.token("start:Runner", "aa")
        for (id, fields) in [("one", ""), ("two", #","renew":"never""#)] {
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"phone"},"state":{}"# + fields + "}", id: id
            )
            rig.advance(to: 10)
            rig.token("activity:\(id)", id == "one" ? "b1" : "b2")
        }
        rig.advance(to: 8 * Self.hour)
        let ids = rig.pushes.filter { $0.push.event == .start }
            .compactMap { Rig.aps($0.push)?["attributes"]?["activity_id"]?.string }
        #expect(ids.sorted() == ["one", "one~1.1", "two"])
    }

    @Test func `a crash between the new card's token and the old one's end forgets neither`() {
        var rig = Self.running(#","renew":"always""#, until: 8 * Self.hour - 1_200)
        rig.verdict = { $0.event == .end ? nil : .accepted }
        rig.token("activity:cat~1.1", "cc")
        rig.verdict = { _ in .accepted }
        #expect(rig.crash(recoverAt: 8 * Self.hour - 1_190) == [])
        rig.advance(to: 8 * Self.hour - 1_100)
        #expect(rig.pushes.last { $0.push.event == .end }?.push.token == "bb")
        #expect(Self.phases(rig).sorted() == ["ended", "live"])
    }

    @Test func `an old card is not ended before it is on record that it has a successor`() {
        var rig = Self.running(#","renew":"always""#, until: 8 * Self.hour - 1_100)
        rig.commitsByItself = false
        let before = rig.pushes.count
        rig.token("activity:cat~1.1", "cc")
        #expect(rig.pushes.count == before)
        rig.commitsByItself = true
        #expect(rig.crash(recoverAt: 8 * Self.hour - 1_090) == [])
        rig.update(lap: 1, until: 8 * Self.hour - 1_080)
        #expect(rig.pushes.last?.push.token == "bb", "it was not ended")
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 8 * Self.hour - 1_000)
        #expect(rig.pushes.last { $0.push.event == .end }?.push.token == "bb")
        #expect(Self.phases(rig) == ["ended", "live"])
    }

    @Test
    func
        `a new card on a channel takes the old one's place when its phone tells of it`()
    {
        var rig = Rig()
        rig.makesChannels = false
        rig.device("phone", .standard, os: "18.1")
        rig.token("start:Runner", "aa")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"#
                + #""state":{"lap":0},"renew":"always"}"#)
        // There is no channel to be had, and later there is.
        rig.step(.channel(.notMade(UpstreamNumber(0)), nil))
        rig.token("activity:cat", "bb")
        rig.makesChannels = true
        rig.advance(to: 8 * Self.hour - 1_100)
        let starts = rig.pushes.filter { $0.push.event == .start }.map(\.push)
        #expect(starts.count == 2)
        #expect(Rig.aps(starts[1])?["input-push-channel"] != nil)
        #expect(Self.phases(rig).contains("live"), "nothing tells that the new one is there")
        rig.report("cat~1.1", #"{"phase":"active"}"#)
        #expect(rig.pushes.last { $0.push.event == .end }?.push.token == "bb")
        #expect(Self.phases(rig).contains("ended"))
        #expect(Self.phases(rig).contains("listening"))
    }

    @Test func `both cards hear of the end that comes between`() {
        var rig = Self.running(#","renew":"always""#, until: 8 * Self.hour - 1_000)
        let before = rig.pushes.count
        rig.command(.end, "{}")
        rig.advance(to: 8 * Self.hour - 990)
        rig.token("activity:cat~1.1", "cc")
        let ends = rig.pushes.dropFirst(before).map(\.push)
        #expect(ends.map(\.event) == [.end, .end])
        #expect(ends.map(\.token) == ["bb", "cc"])
    }

    // MARK: on_token_gone

    @Test func `a token that is gone stops the card, unless the producer wants another`() {
        for (fields, starts) in [
            ("", 1), (#","on_token_gone":"stop""#, 1), (#","on_token_gone":"restart""#, 2),
        ] {
            var rig = Self.running(fields, until: 60)
            rig.verdict = { $0.token == "bb" ? Self.gone : .accepted }
            rig.update(lap: 1, until: 120)
            let all = rig.pushes.map(\.push).filter { $0.event == .start }
            #expect(all.count == starts, "\(fields)")
            guard starts == 2 else { continue }
            #expect(Rig.state(all[1]) == #"{"lap":1}"#)
            #expect(Rig.aps(all[1])?["alert"]?["title"]?.string == "", "it rang once")
            rig.token("activity:cat", "cc")
            rig.update(lap: 2, until: 150)
            #expect(rig.pushes.last?.push.token == "cc")
            #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":2}"#)
        }
    }

    @Test func `a swipe that the phone tells of restarts nothing`() {
        var rig = Self.running(#","on_token_gone":"restart""#, until: 60)
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        rig.verdict = { $0.token == "bb" ? Self.gone : .accepted }
        rig.update(lap: 1, until: 2_000)
        #expect(rig.pushes.count == 1)
    }

    @Test func `a token of the other environment restarts nothing`() {
        var rig = Self.running(#","on_token_gone":"restart""#)
        rig.verdict = { _ in .refusal(400, "BadDeviceToken", .tokenMisplaced) }
        rig.advance(to: 60)
        rig.update(lap: 1, until: 120)
        #expect(rig.pushes.filter { $0.push.event == .start }.count == 1)
        #expect(Self.phases(rig) == ["unreachable"])
    }
}
