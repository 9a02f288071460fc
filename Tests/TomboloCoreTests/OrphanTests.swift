import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Tokens whose activity nobody knows, and cards whose activity is gone (pacing rule 5).
@Suite struct OrphanTests {
    static func names(_ rig: borrowing Rig) -> [String] {
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        return rig.core.deviceView(key, now: rig.now)?.tokens.map(\.name) ?? []
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
        rig.command(.start, Self.start)
        rig.command(.end, #"{"state":{"lap":1}}"#)
        rig.token("activity:cat", "bb")
        #expect(rig.line() == #"0:E10{"lap":1}"#)
        #expect(rig.pushes.first?.push.token == "bb")
    }

    @Test(arguments: [
        #"{"type":"Runner","state":{"secret":1}}"#,
        #"{"type":"Runner","audience":{"device":"other"},"state":{"secret":1}}"#,
        #"{"type":"Runner","audience":{"user":"u42"},"state":{"secret":1},"relevance":7}"#,
    ])
    func `a device that an activity was not for ends its card without learning anything`(
        start: String
    ) throws {
        var rig = Rig()
        rig.device()
        rig.device("own", user: "u7")
        rig.command(.start, start)
        rig.command(.end, #"{"state":{"secret":2},"alert":{"title":"secret"}}"#)
        for device in ["phone", "own"] {
            rig.token("activity:cat", "bb0\(device.utf8.count)", device)
            #expect(rig.lastStored?.kind == .kept, "as where there is no such activity")
        }
        #expect(rig.pushes.map(\.push.token) == ["bb05", "bb03"])
        for (_, push) in rig.pushes {
            #expect(push.event == .end)
            let names = Rig.aps(push)?.members.map(\.name)
            #expect(names == ["timestamp", "event", "dismissal-date"])
        }
        // After a crash too, and when the end goes once more.
        _ = rig.crash(recoverAt: 900)
        rig.advance(to: 7_200)
        #expect(rig.pushes.count > 2)
        for (_, push) in rig.pushes {
            #expect(!String(decoding: push.payload, as: UTF8.self).contains("secret"))
        }
    }

    @Test func `a card of an incarnation before gets nothing of one that is for others`() throws {
        var rig = Rig()
        rig.device()
        rig.device("other")
        rig.command(.start, #"{"type":"Runner","state":{}}"#)
        rig.command(.end, "{}")
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"other"},"state":{"secret":1}}"#
        ) { $0.restart = true }
        rig.token("activity:cat", "bb")
        #expect(rig.pushes.map(\.push.token) == ["bb"])
        #expect(rig.line() == "0:E10?")
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
        var rig = Rig.running()
        rig.command(.end, "{}")
        rig.advance(to: 25 * 3_600)
        #expect(Self.names(rig) == ["start:Runner"])
    }
}
