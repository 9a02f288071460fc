import CoreRig
import Testing
import TomboloCore

/// What needs attention where Apple has taken each push.
@Suite struct AttentionTests {
    private func overview(_ rig: borrowing Rig) -> Overview {
        var (overview, place): (Overview, Int?) = (Overview(), 0)
        while let next = place {
            place = rig.core.look(&overview, of: Rig.tenant, from: next, now: rig.now)
        }
        return overview
    }

    private func troubles(_ rig: borrowing Rig) -> [Overview.Trouble] {
        overview(rig).troubles.map(\.trouble)
    }

    /// The one card's standing, which the metrics must count too.
    private func standing(_ rig: borrowing Rig) -> CardStanding? {
        var (waiting, cards, place): (WaitingChanges, StandingCounts, Int?) = (.init(), .init(), 0)
        while let next = place {
            place = rig.core.count(&waiting, &cards, of: Rig.tenant, from: next, now: rig.now)
        }
        #expect(cards == overview(rig).cards)
        #expect(cards.running <= 1)
        return CardStanding.allCases.first { cards[$0] == 1 }
    }

    @Test func `a card counts by what is known of its newest version`() {
        var rig = Rig.running(.lab)
        #expect(standing(rig) == .silent, "Apple's answer is no word of the phone")
        rig.report("cat", #"{"phase":"active","received_version":1}"#)
        #expect(standing(rig) == .shown)
        let pause = rig.pause(#"{"activity":"cat"}"#)
        rig.update(lap: 1)
        #expect(standing(rig) == .behind)
        rig.resume(pause)
        rig.advance(to: 60)
        #expect(standing(rig) == .silent)
        rig.advance(to: 200)
        rig.report("cat", #"{"phase":"active","received_version":1}"#)
        #expect(standing(rig) == .older)
        rig.command(.end, "{}")
        #expect(standing(rig) == nil)
    }

    @Test func `a card whose token Apple refuses is out of reach`() {
        var rig = Rig.running(.lab)
        rig.verdict = { _ in .refusal(410, "Unregistered", .tokenGone) }
        rig.update(lap: 1, until: 60)
        #expect(standing(rig) == .unreachable)
    }

    @Test func `a group names its members`() {
        var rig = Rig()
        rig.device("phone", .lab)
        for name in ["a", "b", "c"] {
            rig.command(
                .start, #"{"type":"\#(name)","audience":{"device":"phone"},"state":{}}"#, id: name)
        }
        let group = overview(rig).troubles.first
        #expect(group?.trouble == .noToken && group?.count == 3)
        #expect(group?.members.map(\.activity.rawValue) == ["a", "b", "c"])
    }

    /// A card whose phone has confirmed its start.
    private func confirmed(_ budgetClass: BudgetClass) -> Rig {
        var rig = Rig.running(budgetClass)
        rig.report("cat", #"{"phase":"active","received_version":1,"drawn_version":1}"#)
        rig.advance(to: 3_700)
        return rig
    }

    @Test(arguments: [(true, 300.0), (false, 3_600)])
    func `a phone that says nothing for so long after a push is one, until its next word`(
        hasReported: Bool, patience: Double
    ) {
        var rig = Rig.running(.lab)
        if hasReported {
            rig.report("cat", #"{"phase":"active","received_version":1,"drawn_version":1}"#)
            rig.advance(to: 3_700)
        } else {
            rig.advance(to: 3_700)
            rig.device("phone", .lab)
        }
        #expect(troubles(rig) == [], "nothing was sent: nothing is to be said")
        rig.update(lap: 1, until: 3_700 + patience - 10)
        #expect(troubles(rig) == [])
        rig.update(lap: 2, until: 3_700 + patience + 10)
        #expect(troubles(rig) == [.silent])
        rig.presence(.background)
        #expect(troubles(rig) == [])
    }

    @Test func `a picture that stands still for a minute is one, until it changes`() {
        var rig = confirmed(.lab)
        rig.update(lap: 1)
        rig.report("cat", #"{"phase":"active","received_version":2,"drawn_version":1}"#)
        rig.advance(to: 3_730)
        rig.update(lap: 2)
        rig.report("cat", #"{"phase":"active","received_version":3,"drawn_version":1}"#)
        rig.advance(to: 3_759)
        #expect(troubles(rig) == [])
        rig.advance(to: 3_760)
        #expect(troubles(rig) == [.frozen])
        let states = #""received_state":{"lap":2},"drawn_state":{"lap":1}"#
        rig.report("cat", "{\"phase\":\"active\",\(states)}")
        #expect(troubles(rig) == [], "it is another picture")
        rig.advance(to: 3_820)
        rig.report("cat", "{\"phase\":\"active\",\(states)}")
        #expect(troubles(rig) == [.frozen])
        rig.report("cat", #"{"phase":"active","received_version":3,"drawn_version":3}"#)
        #expect(troubles(rig) == [])
    }

    @Test func `a budget that is spent is one, though nothing waits for it`() {
        var rig = confirmed(.standard)
        for lap in 1...4 {
            rig.command(.update, "{\"state\":{\"lap\":\(lap)},\"alert\":{\"title\":\"a\"}}")
            rig.advance(to: 3_700 + Double(lap) * 2)
        }
        #expect(troubles(rig) == [.budgetSpent])
        rig.advance(to: 3_700 + 400)
        rig.presence(.background)
        #expect(troubles(rig) == [])
    }

    /// A standard bucket holds 4, and keeps 1 for alerts.
    @Test func `a push at priority 5 for the reserve is reported, and so is a card that is behind`()
        throws
    {
        var rig = confirmed(.standard)
        for lap in 1...4 {
            rig.command(.update, "{\"state\":{\"lap\":\(lap)},\"urgency\":\"high\"}")
            #expect(rig.lastAccepted?.lint.isEmpty == (lap < 4), "\(lap)")
            #expect((rig.lastAccepted?.decision == .sent(isReserved: true)) == (lap == 4), "\(lap)")
            rig.advance(to: 3_700 + Double(lap) * 2)
            let budget = try #require(
                rig.core.budgets(
                    of: Rig.tenant, activity: nil, device: nil, limit: 1, now: rig.now
                ).first)
            #expect((budget.highAt == nil) == (lap < 3), "\(lap)")
        }
        let kept = "1 of the bucket's 4 is kept for alerts (reserve)"
        #expect(rig.lastAccepted?.lint.first?.message.contains(kept) == true)
        #expect(rig.pushes.last?.push.priority == 5)
        #expect(troubles(rig) == [])
        rig.advance(to: 3_780)
        rig.report("cat", #"{"phase":"active","received_version":4,"drawn_version":4}"#)
        #expect(troubles(rig) == [.budgetSpent])
        rig.report("cat", #"{"phase":"active","received_version":5,"drawn_version":5}"#)
        #expect(troubles(rig) == [])
    }
}
