import CoreRig
import Testing

@testable import TomboloCore

/// What waits at destinations, by what holds it.
@Suite struct WaitingChangesTests {
    private static func waiting(_ rig: borrowing Rig, of tenant: TenantID = Rig.tenant)
        -> WaitingChanges
    {
        var (waiting, cards) = (WaitingChanges(), StandingCounts())
        var place: Int? = 0
        while let next = place {
            place = rig.core.count(&waiting, &cards, of: tenant, from: next, now: rig.now)
        }
        return waiting
    }

    @Test func `a change counts while it waits, with the time since the oldest came`() {
        var rig = Rig.running(until: 100)
        #expect(Self.waiting(rig) == WaitingChanges())
        let pause = rig.pause(#"{"activity":"cat"}"#)
        rig.update(lap: 1, .high, until: 107)
        rig.update(lap: 2, .high)
        let held = Self.waiting(rig)
        for reason in WaitReason.allCases {
            #expect(held.count(of: reason) == (reason == .paused ? 1 : 0), "\(reason)")
            #expect(held.age(of: reason, now: rig.now) == .seconds(reason == .paused ? 7 : 0))
        }
        #expect(Self.waiting(rig, of: TenantID(Identifier("other")!)) == WaitingChanges())
        rig.resume(pause)
        rig.advance(to: 200)
        #expect(Self.waiting(rig) == WaitingChanges())
    }
}
