import CoreRig
import Testing

@testable import TomboloCore

/// What the phone's own budget is estimated at: Apple publishes none.
@Suite struct PhoneBudgetTests {
    private func phone(_ rig: borrowing Rig) -> PhoneBudget? {
        rig.core.budgets(
            of: Rig.tenant, activity: nil, device: nil, limit: 10, now: rig.now
        ).first?.phone
    }

    @Test func `without a word of the phone it is the class's, less what was spent`() {
        var rig = Rig.running(until: 10)
        // The start was the first.
        #expect(phone(rig) == PhoneBudget(perHour: 14, left: 13, basis: .assumed))
        rig.update(lap: 1, .high, until: 12)
        #expect(phone(rig)?.left == 12)
    }

    @Test func `a phone that spoke later and shows less than it was sent has none left`() {
        var rig = Rig.running(until: 10)
        rig.update(lap: 1, .high, until: 12)
        rig.report("cat", #"{"phase":"active","shown_version":2}"#)
        #expect(phone(rig)?.basis == .reported)
        #expect(phone(rig)?.left == 12)
        rig.update(lap: 2, .high, until: 60)
        rig.report("cat", #"{"phase":"active","shown_version":2}"#)
        #expect(phone(rig) == PhoneBudget(perHour: 14, left: 0, basis: .reported))
        rig.report("cat", #"{"phase":"active","shown_version":3}"#)
        #expect(phone(rig)?.left ?? 0 > 0)
    }

    @Test func `a phone that reports the newest state has its version on record, once`() {
        var rig = Rig.running()
        for lap in 1...2 {
            rig.update(lap: lap, .high, until: Double(lap * 60))
            for _ in 1...2 {
                rig.report("cat", #"{"phase":"active","shown_state":{"lap":\#(lap)}}"#)
            }
            rig.report("cat", #"{"phase":"active","shown_state":{"lap":0}}"#)
        }
        rig.advance(to: 180)
        let bodies = rig.facts.filter { $0.kind == "card.reported" }.map {
            String(decoding: $0.body, as: UTF8.self)
        }
        for version in 2...3 {
            #expect(
                bodies.count { $0.contains(#""received_version":\#(version)"#) } == 1, "\(bodies)")
        }
    }

    @Test func `nothing limits class lab`() {
        let rig = Rig.running(.lab)
        #expect(phone(rig) == nil)
    }
}
