import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A value that follows where the app is (`presence` of a type; pacing rule 12; scenario `window`).
@Suite struct PresenceBindingTests {
    private static let type = #"""
        {"presence":{"path":"/corner","active":8,"inactive":0,"duration":"350ms","easing":"linear"}}
        """#

    private static func rig(_ budgetClass: BudgetClass = .lab, type: String = type) -> Rig {
        var rig = Rig()
        rig.type(type)
        rig.device("phone", budgetClass)
        rig.token("start:Runner", "aa")
        rig.presence(.active)
        rig.start()
        rig.token("activity:cat", "bb")
        rig.advance(to: 1)
        return rig
    }

    @Test func `each transition moves it, with pushes of its own, and a Control Center does not`() {
        var rig = Self.rig()
        #expect(rig.line() == #"0:S10{"lap":0,"corner":8}"#)
        rig.presence(.inactive, cause: .controlCenter)
        rig.advance(to: 4)
        rig.presence(.active)
        rig.presence(.inactive, cause: .controlCenter)
        rig.advance(to: 5)
        #expect(rig.pushes.count == 1, "covered, active again and covered: the corners stay")
        rig.presence(.background)
        rig.advance(to: 10)
        let kinds = rig.facts.map(\.kind).filter { $0.hasPrefix("presence.") }
        let (back, covered) = ("presence.returning", "presence.covered")
        #expect(kinds.prefix(4) == [back, covered, back, covered])
        #expect(
            rig.line(from: 1)
                == #"5.1:U10{"lap":0,"corner":5.714} "#
                + #"5.2:U10{"lap":0,"corner":3.429} "#
                + #"5.3:U10{"lap":0,"corner":1.143} "#
                + #"5.35:U10{"lap":0,"corner":0}"#)
        #expect(rig.view()?.destinations[0].acknowledgedVersion == 1, "no version, no event")
        let before = rig.pushes.count
        rig.presence(.active)
        rig.advance(to: 20)
        #expect(rig.line(from: before).hasSuffix(#"10.35:U10{"lap":0,"corner":8}"#))
    }

    @Test func `leaving has its grace, and who is back within it was never gone`() {
        var rig = Self.rig()
        rig.presence(.inactive)
        rig.advance(to: 1.2)
        rig.presence(.active)
        rig.advance(to: 5)
        #expect(rig.pushes.count == 1)
        rig.presence(.inactive)
        rig.advance(to: 5.31)
        #expect(rig.pushes.count == 1, "300 ms, and 100 to the first step")
        rig.advance(to: 9)
        #expect(rig.line(from: 1).hasSuffix(#"5.65:U10{"lap":0,"corner":0}"#))
    }

    @Test func `a way back begins with the value that is shown`() {
        var rig = Self.rig()
        rig.presence(.background)
        rig.advance(to: 1.2)
        rig.presence(.active)
        rig.advance(to: 5)
        #expect(
            rig.line(from: 1).contains(
                #"1.2:U10{"lap":0,"corner":3.429} "#
                    + #"1.3:U10{"lap":0,"corner":4.735}"#))
        #expect(rig.line().hasSuffix(#"1.55:U10{"lap":0,"corner":8}"#))
    }

    @Test func `a class with few pushes gets the last value only`() {
        var rig = Self.rig(.standard)
        rig.presence(.background)
        rig.advance(to: 20)
        #expect(rig.line(from: 1) == #"1.35:U10{"lap":0,"corner":0}"#)
    }

    @Test func `a push for something else carries it, and it is not compared for that`() {
        var rig = Self.rig(.standard)
        rig.presence(.background)
        rig.advance(to: 30)
        rig.update(lap: 1, until: 60)
        #expect(rig.line(from: 2) == #"30:U5{"lap":1,"corner":0}"#)
        rig.update(lap: 1, until: 90)
        #expect(rig.pushes.count == 3, "unchanged is unchanged")
        rig.command(.end, "{}")
        #expect(rig.line(from: 3) == #"90:E10{"lap":1,"corner":0}"#)
    }

    @Test func `it jumps with the next frame while a clip runs`() {
        var rig = Self.rig()
        rig.presence(.background)
        rig.advance(to: 10)
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"1s","clock":"wall"}}"#)
        rig.advance(to: 10.5)
        let before = rig.pushes.count
        rig.presence(.active)
        rig.advance(to: 13)
        // In front frames wait, and the value goes on its own.
        #expect(rig.line(from: before).hasSuffix(#""corner":8}"#))
    }

    @Test func `after a restart what was sent is not sent again, and what changed is`() {
        var rig = Self.rig(.standard)
        _ = rig.crash(recoverAt: 20)
        rig.token("activity:cat", "bb")
        rig.advance(to: 60)
        #expect(rig.pushes.count == 1, "its lease survives, and the phone has the value")
        _ = rig.crash(recoverAt: 61)
        rig.advance(to: 200)
        #expect(rig.line(from: 1).hasSuffix(#"{"lap":0,"corner":0}"#), "the lease ran out")
        #expect(rig.pushes.count == 2)
    }

    @Test func `a phone that reports it reports the newest version all the same`() {
        var rig = Self.rig()
        rig.report("cat", #"{"phase":"active","received_state":{"lap":0,"corner":3.5}}"#)
        #expect(rig.view()?.destinations[0].shownMatches == true)
        rig.report("cat", #"{"phase":"active","received_state":{"lap":9,"corner":8}}"#)
        #expect(rig.view()?.destinations[0].shownMatches == false)
    }

    @Test func `what Apple lost goes again`() {
        var rig = Self.rig(.standard)
        rig.answerFirst(with: .notSent(reason: "connection lost"))
        rig.presence(.background)
        rig.advance(to: 30)
        #expect(rig.pushes.count == 3)
        #expect(rig.line().hasSuffix(#"{"lap":0,"corner":0}"#))
    }

    @Test func `on a channel all get the inactive value, and the start says so`() {
        var rig = Rig()
        rig.type(Self.type)
        rig.channel("news", "AAAA")
        rig.command(.start, #"{"type":"Runner","audience":{"channel":"news"},"state":{"lap":0}}"#)
        let lints = rig.lastAccepted?.lint ?? []
        #expect(
            lints.contains { $0.code == .presenceOnChannel && $0.pointer == "/type" }, "\(lints)")
        rig.update(lap: 1, until: 60)
        #expect(rig.line().hasSuffix(#"{"lap":1,"corner":0}"#), "\(rig.line())")
    }

    @Test func `a producer cannot send it, nor play it, and it counts for the size`() {
        var rig = Self.rig()
        rig.command(.update, #"{"state":{"corner":3}}"#)
        #expect(rig.lastRefusal == .invalidField)
        rig.command(.play, #"{"tween":{"path":"/corner","from":0,"to":8,"duration":"1s"}}"#)
        #expect(rig.lastRefusal == .invalidField)
        rig.command(.start, #"{"type":"Runner","state":{"corner":1}}"#, id: "dog")
        #expect(rig.lastRefusal == .invalidField)
        func fits(_ bytes: Int) -> Bool {
            let text = String(repeating: "a", count: bytes)
            rig.command(.update, #"{"state":{"text":"\#(text)"}}"#)
            return rig.lastAccepted != nil && rig.lastRefusal == nil
        }
        var most = 3_000
        while most < 4_100, fits(most + 1) { most += 1 }
        rig.presence(.background)
        rig.advance(to: 30)
        let largest = rig.pushes.map(\.push.payload.count).max() ?? 0
        #expect((3_920...4_096).contains(largest), "\(largest)")
    }

    @Test(arguments: [
        (#"{"presence":{"active":8,"inactive":0}}"#, "/presence/path"),
        (#"{"presence":{"path":"","active":8,"inactive":0}}"#, "/presence/path"),
        (#"{"presence":{"path":"/a","inactive":0}}"#, "/presence/active"),
        (#"{"presence":{"path":"/a","active":8,"inactive":"x"}}"#, "/presence/inactive"),
        (#"{"presence":{"path":"/a","active":8,"inactive":[1]}}"#, "/presence/inactive"),
        (#"{"presence":{"path":"/a","active":8,"inactive":0,"ease":1}}"#, "/presence/ease"),
        (
            #"{"state":{"properties":{"b":{}}},"presence":{"path":"/a","active":8,"inactive":0}}"#,
            "/presence/path"
        ),
    ])
    func `what binds nothing is refused, with its place`(body: String, pointer: String) {
        #expect(Rig.faults { try ActivityType(reading: Rig.json(body)) } == [pointer])
    }
}
