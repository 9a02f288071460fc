import CoreRig
import Testing

@testable import TomboloCore

/// The answer says what a report came to, and an app in front stays there over a restart.
@Suite struct PresenceLeaseTests {
    private static func verdict(_ rig: borrowing Rig) -> Presence.Verdict? {
        if case .stored(let stored)? = rig.answers.last { stored.presence } else { nil }
    }

    private static func place(_ rig: borrowing Rig) -> String? {
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        return rig.core.deviceView(key, now: rig.now)?.presence?.state.name
    }

    @Test func `each report is answered with where the app is and what the report was`() {
        var rig = Rig()
        rig.device()
        var heard: [String] = []
        func tell(_ phase: PresenceReport.Phase, _ cause: PresenceReport.Cause? = nil) {
            rig.presence(phase, cause: cause)
            heard.append(
                "\(Self.verdict(rig)?.state.name ?? "?") \(Self.verdict(rig)?.transition.name ?? "?")"
            )
            rig.advance(to: Double(heard.count))
        }
        tell(.active)
        tell(.inactive, .controlCenter)
        tell(.active)
        tell(.inactive)
        tell(.background)
        tell(.background)
        tell(.inactive)
        #expect(
            heard == [
                "active returning", "covered covered", "active returning", "leaving leaving",
                "background none", "background none", "returning returning",
            ])
    }

    @Test func `an older report says nothing new`() {
        var rig = Rig()
        rig.device()
        rig.advance(to: 10)
        rig.presence(.active)
        rig.tell(
            .presence(
                PresenceReport(phase: .background, at: rig.core.wall(rig.now) - .seconds(5))))
        #expect(Self.verdict(rig) == Presence.Verdict(.active, .none))
    }

    @Test(arguments: ["1678-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2261-12-31T00:00:00Z"])
    func `what a phone with a wrong clock says is read back`(time: String) {
        var rig = Rig()
        rig.device()
        rig.tell(.presence(PresenceReport(phase: .active, at: Instant(rfc3339: time))))
        #expect(Self.place(rig) == "active")
        rig.advance(to: 1)
        #expect(rig.crash(recoverAt: 2) == [])
        #expect(Self.place(rig) == "active")
    }

    @Test(arguments: [PresenceReport.Phase.active, .inactive])
    func `a lease goes on where it was after a restart`(phase: PresenceReport.Phase) {
        var rig = Rig()
        rig.device()
        rig.presence(.active)
        rig.advance(to: 1)
        if phase == .inactive { rig.presence(.inactive, cause: .controlCenter) }
        rig.advance(to: 10)
        _ = rig.crash(recoverAt: 20)
        #expect(Self.place(rig) == (phase == .active ? "active" : "covered"))
        rig.advance(to: phase == .active ? 89 : 90)
        #expect(Self.place(rig) != "background")
        rig.advance(to: 92)
        #expect(Self.place(rig) == "background")
    }

    @Test func `an app that has left, and a lease that is over, are in the background`() {
        var rig = Rig()
        rig.device()
        rig.presence(.active)
        rig.advance(to: 5)
        rig.presence(.background)
        rig.advance(to: 10)
        _ = rig.crash(recoverAt: 20)
        #expect(Self.place(rig) == nil)
        rig.presence(.active)
        rig.advance(to: 25)
        _ = rig.crash(recoverAt: 200)
        #expect(Self.place(rig) == nil)
    }
}
