import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Tokens whose activity nobody knows, and cards whose activity is gone (pacing rule 5).
@Suite struct OrphanTests {
    static func names(_ rig: Rig) -> [String] {
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        return rig.core.view(key, now: rig.now)?.tokens.map(\.name) ?? []
    }

    static let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#

    @Test func `a token for an unknown activity waits eight hours for it`() {
        var rig = Rig()
        rig.device()
        rig.token("activity:cat", "bb")
        rig.advance(to: 8 * 3_600 - 1)
        #expect(Self.names(rig) == ["activity:cat"])
        rig.command(.start, Self.start)
        #expect(rig.pushes.map(\.push.token) == ["bb"], "adopted")

        rig.token("activity:dog", "dd")
        rig.advance(to: 16 * 3_600 - 2)
        #expect(Self.names(rig) == ["activity:cat", "activity:dog"])
        rig.advance(to: 16 * 3_600)
        #expect(Self.names(rig) == ["activity:cat"])
    }

    @Test func `a crash does not lengthen the wait`() {
        var rig = Rig()
        rig.device()
        rig.token("activity:cat", "bb")
        #expect(rig.crash(recoverAt: 7 * 3_600) == [])
        #expect(Self.names(rig) == ["activity:cat"])
        rig.advance(to: 8 * 3_600)
        #expect(Self.names(rig) == [])
        #expect(rig.crash(recoverAt: 8 * 3_600 + 1) == [])
        #expect(Self.names(rig) == [])
    }

    @Test func `a card that shows up after its activity's end is ended`() {
        var rig = Rig()
        rig.device()
        rig.command(.start, #"{"type":"Runner","state":{"lap":0}}"#)
        rig.command(.end, "{}")
        rig.token("activity:cat", "bb")
        #expect(rig.line() == #"0:E10{"lap":0}"#)
        #expect(rig.pushes.first?.push.token == "bb")
    }

    @Test func `a card whose start was annihilated and came all the same is ended`() {
        var rig = Rig()
        rig.device()
        rig.command(.start, Self.start)
        rig.command(.end, "{}")
        #expect(rig.pushes.isEmpty)
        rig.token("activity:cat", "bb")
        #expect(rig.line() == #"0:E10{"lap":0}"#)
    }

    @Test func `the tokens of an activity leave memory with it`() {
        var rig = Rig()
        rig.runningActivity()
        rig.command(.end, "{}")
        rig.advance(to: 25 * 3_600)
        #expect(Self.names(rig) == ["start:Runner"])
    }
}
