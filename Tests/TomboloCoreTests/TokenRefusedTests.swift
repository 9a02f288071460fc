import CoreRig
import Testing

@testable import TomboloCore

/// What Apple refused is kept with the token's name, and is said wherever the token is missed.
@Suite struct TokenRefusedTests {
    private static let bad = PushResult.refusal(400, "BadDeviceToken", .tokenMisplaced)
    private static let key = DeviceKey(tenant: Rig.tenant, id: Identifier("tablet")!)
    private static let start =
        #"{"type":"Runner","audience":{"device":"tablet"},"state":{},"alert":{"title":"a"}}"#

    /// One phone is right, and Apple refuses the start token of the other.
    private static func rig() -> Rig {
        var rig = Rig.running()
        rig.device("tablet")
        rig.token("start:Runner", "cc", "tablet")
        rig.token("widget", "ee", "tablet")
        rig.verdict = { ["cc", "ee"].contains($0.token) ? Self.bad : .accepted }
        rig.command(.start, start, id: "dog")
        rig.reload(#"{"device":"tablet"}"#)
        rig.advance(to: 20)
        return rig
    }

    private func refused(_ rig: borrowing Rig) -> [TokenStanding] {
        rig.core.deviceView(Self.key, now: rig.now)?.refused ?? []
    }

    private func pushes(_ rig: borrowing Rig) -> RefusedPushes {
        RefusedPushes(of: Rig.tenant, since: Rig.epoch, in: rig.core)
    }

    @Test func `a refused token is no missing one, also after a crash`() throws {
        var rig = Self.rig()
        for crashes in [false, true] {
            if crashes { #expect(rig.crash(recoverAt: 30).isEmpty) }
            #expect(refused(rig).map(\.name) == [.start(type: "Runner"), .widget])
            let refusal = try #require(refused(rig).first?.refusal)
            #expect(refusal.answer == "400 BadDeviceToken" && refusal.environment == .sandbox)
            #expect(refusal.isMisplaced)
            #expect(rig.view("dog")?.destinations.first?.token?.isRefused == true)
            let reload = try #require(ReloadView(of: Self.key, in: rig.core, now: rig.now) ?? nil)
            #expect(reload.token.lack?.hasPrefix("Apple refused") == true)
            var overview = Overview()
            #expect(rig.core.look(&overview, of: Rig.tenant, from: 0, now: rig.now) == nil)
            #expect(overview.troubles.map(\.trouble) == [.tokenRefused])
            #expect(pushes(rig).count == 1 && pushes(rig).retriable == nil)
            rig.command(.start, Self.start, id: crashes ? "fox" : "cow")
            #expect(rig.lastAccepted?.lint.map(\.code) == [.tokenRefused])
            rig.command(.end, "{}", id: crashes ? "fox" : "cow")
        }
    }

    @Test func `the same token again is warned of, and another one ends it`() {
        var rig = Self.rig()
        rig.token("start:Runner", "cc", "tablet")
        #expect(rig.lastStored?.lint.map(\.code) == [.tokenRefused])
        rig.advance(to: 60)
        #expect(refused(rig).count == 2)
        rig.token("start:Runner", "dd", "tablet")
        #expect(rig.lastStored?.lint.isEmpty == true)
        #expect(refused(rig).map(\.name) == [.widget])
        #expect(pushes(rig).count == 0)
        rig.advance(to: 80)
        #expect(rig.pushes.contains { $0.push.token == "dd" })
    }

    @Test func `a token that Apple takes after all was refused no more`() {
        var rig = Self.rig()
        rig.verdict = { _ in .accepted }
        rig.token("start:Runner", "cc", "tablet")
        rig.advance(to: 60)
        #expect(refused(rig).map(\.name) == [.widget])
    }
}
