import CoreRig
import Testing
import TomboloCore

/// What the phone's own budget is estimated at: Apple publishes none.
@Suite struct PhoneBudgetTests {
    private func phone(_ rig: Rig) -> PhoneBudget? {
        rig.core.budgets(
            of: Rig.tenant, activity: nil, device: nil, limit: 10, now: rig.now
        ).first?.phone
    }

    @Test func `without a word of the phone it is the class's, less what was spent`() {
        var rig = Rig()
        rig.runningActivity()
        rig.advance(to: 10)
        // The start was the first.
        #expect(phone(rig) == PhoneBudget(perHour: 15, left: 14, basis: .assumed))
        rig.command(.update, #"{"state":{"lap":1},"urgency":"high"}"#)
        rig.advance(to: 12)
        #expect(phone(rig)?.left == 13)
    }

    @Test func `a phone that spoke later and shows less than it was sent has none left`() {
        var rig = Rig()
        rig.runningActivity()
        rig.advance(to: 10)
        rig.command(.update, #"{"state":{"lap":1},"urgency":"high"}"#)
        rig.advance(to: 12)
        rig.report("cat", #"{"phase":"active","shown_version":2}"#)
        #expect(phone(rig)?.basis == .reported)
        #expect(phone(rig)?.left == 13)
        rig.command(.update, #"{"state":{"lap":2},"urgency":"high"}"#)
        rig.advance(to: 60)
        rig.report("cat", #"{"phase":"active","shown_version":2}"#)
        #expect(phone(rig) == PhoneBudget(perHour: 15, left: 0, basis: .reported))
        rig.report("cat", #"{"phase":"active","shown_version":3}"#)
        #expect(phone(rig)?.left ?? 0 > 0)
    }

    @Test func `nothing limits class lab`() {
        var rig = Rig()
        rig.runningActivity(.lab)
        #expect(phone(rig) == nil)
    }
}
