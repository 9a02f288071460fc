import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What a reload of a device's widgets waits for.
@Suite struct ReloadViewTests {
    private func view(_ rig: borrowing Rig, _ device: String = "phone") -> ReloadView? {
        ReloadView(
            of: DeviceKey(tenant: Rig.tenant, id: Identifier(device)!), in: rig.core, now: rig.now)
    }

    private func rig(_ grant: Grant) -> Rig {
        var rig = Rig { $0.budgets[.widget] = grant }
        rig.register("phone", #"{"os":"26.1"}"#)
        rig.token("widget", "ee")
        return rig
    }

    private static let wide = Grant(
        spacing: .seconds(2), burst: 10, perHour: 1_000, reserve: 0, lowPrioritySpacing: .zero)
    private static let narrow = Grant(
        spacing: .seconds(2), burst: 1, perHour: 1, reserve: 0, lowPrioritySpacing: .zero)

    @Test func `a device that nobody knows has none, and one that wants none has nothing`() {
        let rig = rig(Self.wide)
        #expect(view(rig, "other") == nil)
        #expect(view(rig)?.holder == nil)
        #expect(view(rig)?.sentAt == nil)
        #expect(view(rig)?.spacing == .seconds(2))
    }

    @Test func `after a reload the next one waits for the spacing`() {
        var rig = rig(Self.wide)
        rig.reload(#"{"device":"phone"}"#)
        let sent = view(rig)
        #expect(sent?.holder == nil)
        #expect(sent?.sentAt == rig.core.wall(Rig.epoch))
        rig.advance(to: 1)
        rig.reload(#"{"device":"phone"}"#)
        #expect(view(rig)?.holder == .spacing)
        #expect(view(rig)?.until == rig.core.wall(Rig.epoch) + .seconds(2))
        rig.advance(to: 3)
        #expect(view(rig)?.holder == nil)
    }

    @Test func `a spent budget, a pause and a missing token are reported`() {
        var rig = rig(Self.narrow)
        rig.reload(#"{"device":"phone"}"#)
        rig.advance(to: 10)
        rig.reload(#"{"device":"phone"}"#)
        #expect(view(rig)?.holder == .budget)
        #expect((view(rig)?.until ?? Rig.epoch) > Rig.epoch + .minutes(50))
        _ = rig.pause(#"{"all":true}"#)
        #expect(view(rig)?.holder == .pause)
        rig.deleteToken("widget", "ee")
        #expect(view(rig)?.holder == .token)
    }

    @Test func `a push without an answer, and one that Apple refuses for a while, are said`() {
        var rig = rig(Self.wide)
        rig.verdict = { _ in nil }
        rig.reload(#"{"device":"phone"}"#)
        #expect(view(rig)?.holder == .inFlight)
        for push in rig.flying {
            rig.answer(push, .refusal(429, "TooManyRequests", .tokenBackOff))
        }
        #expect(view(rig)?.holder == .backOff)
    }
}
