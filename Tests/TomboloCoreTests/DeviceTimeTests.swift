import CoreRig
import Testing
import TomboloCore

/// A phone's clock that is ahead keeps no later token away.
@Suite struct DeviceTimeTests {
    private func tell(_ rig: inout Rig, _ token: String, at time: String?) throws -> Stored.Kind? {
        let observed = time.map { ",\"observed_at\":\"\($0)\"" } ?? ""
        let fields = Rig.json("{\"token\":\"\(token)\"\(observed)}")
        let name = try #require(TokenName("start:Runner"))
        rig.tell(.putToken(name, try TokenRegistration(reading: fields)))
        guard case .stored(let stored)? = rig.answers.last else { return nil }
        return stored.kind
    }

    @Test func `a token that was seen in the future counts as seen when it came`() throws {
        var rig = Rig()
        rig.device("phone")
        #expect(try tell(&rig, "aa", at: "2093-01-01T00:00:00Z") == .created)
        rig.advance(to: 60)
        let now = (Rig.epoch + .seconds(60)).rfc3339
        #expect(try tell(&rig, "bb", at: now) == .updated, "a rotated token takes its place")
        rig.advance(to: 120)
        #expect(try tell(&rig, "cc", at: nil) == .updated)
        #expect(try tell(&rig, "dd", at: Rig.epoch.rfc3339) == .outdated)
    }

    @Test func `a token that Apple retired is replaced also after the clock was set back`() throws {
        var rig = Rig()
        rig.device("phone")
        rig.advance(to: 3_600)
        let told = (Rig.epoch + .seconds(3_600)).rfc3339
        #expect(try tell(&rig, "aa", at: told) == .created)
        rig.verdict = { _ in .refusal(410, "Unregistered", .tokenGone) }
        rig.command(.start, #"{"type":"Runner","audience":{"device":"phone"},"state":{}}"#)
        #expect(rig.pushes.count == 1)
        rig.advance(to: 3_605)
        // The machine's clock was an hour ahead; the next relay begins with the right time.
        var recovery = rig.recovery()
        recovery.lead = .seconds(-3_600)
        rig.recover(recovery)
        // The app tells of it some seconds after it saw it.
        let seen = (Rig.epoch + .seconds(2)).rfc3339
        #expect(try tell(&rig, "bb", at: seen) == .created)
        #expect(try tell(&rig, "cc", at: (Rig.epoch + .seconds(3)).rfc3339) == .updated)
        #expect(try tell(&rig, "bb", at: seen) == .outdated, "and what is older is older again")
    }
}
