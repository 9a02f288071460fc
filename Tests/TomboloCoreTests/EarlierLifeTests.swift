import CoreRig
import Testing

@testable import TomboloCore

/// What an activity keeps of its earlier lives, so that their cards end with their own state.
@Suite struct EarlierLifeTests {
    private static func start(_ state: String, for devices: String) -> String {
        #"{"type":"Runner","audience":{"devices":[\#(devices)]},"state":\#(state)}"#
    }

    /// Lives of one activity, each with its lap and its audience.
    private static func lives(_ audiences: [String]) -> Rig {
        var rig = Rig()
        for (lap, devices) in audiences.enumerated() {
            if lap > 0 { rig.command(.end, "{}") }
            rig.command(.start, start(#"{"lap":\#(lap)}"#, for: devices)) { $0.restart = true }
            rig.advance(to: Double(lap + 1) * 10)
        }
        return rig
    }

    private static func ends(_ rig: borrowing Rig) -> [String] {
        rig.pushes.map(\.push).filter { $0.event == .end }.map(Rig.state)
    }

    @Test func `the last lives are known after a restart, and the others end without a state`() {
        var rig = Self.lives(Array(repeating: #""phone""#, count: 7))
        #expect(rig.crash(recoverAt: 100) == [])
        rig.device()
        for life in 1...6 {
            rig.token(life == 1 ? "activity:cat" : "activity:cat~\(life)", "b\(life)")
        }
        rig.advance(to: 160)
        let laps = Self.ends(rig).sorted()
        let known = (2...5).map { #"{"lap":\#($0)}"# }
        #expect(laps == (known + ["?", "?"]).sorted())
    }

    @Test func `a device of another audience does not see a life's state`() {
        var rig = Self.lives([#""other""#, #""phone""#])
        rig.device()
        rig.token("activity:cat", "b1")
        rig.advance(to: 60)
        #expect(Self.ends(rig) == ["?"], "a bare end")
    }

    @Test func `the erasure of a device takes the lives that were for it alone`() {
        var rig = Self.lives([#""gone""#, #""gone","phone""#, #""phone""#])
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("gone")!)
        rig.step(.erase(.device(key), Ticket(900)))
        let heads = rig.heads.values.map { String(decoding: $0.0.value, as: UTF8.self) }
        #expect(heads.count == 1)
        #expect(heads.allSatisfy { !$0.contains("gone") && !$0.contains(#"{"lap":0}"#) })
        #expect(heads.allSatisfy { $0.contains(#"{"lap":1}"#) }, "it was for another phone, too")
    }

    @Test func `the log's erasure finds a device in an earlier life`() throws {
        let rig = Self.lives([#""gone""#, #""gone","phone""#, #""phone""#])
        let (head, version, _) = try #require(rig.heads.values.first { _ in true })
        let gone = Identifier("gone")!
        #expect(DeviceTrace.inHead(head.value, of: gone) == .among)
        let left = DeviceTrace.head(head.value, version: version, without: gone)
        #expect(DeviceTrace.inHead(left, of: gone) == .none)
        let text = String(decoding: left, as: UTF8.self)
        #expect(!text.contains("gone") && !text.contains(#"{"lap":0}"#))
    }
}
