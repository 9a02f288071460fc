import CoreRig
import TestSupport
import Testing
import TomboloCore

/// What a log makes of a head and the events after it is the head that the core would have written.
@Suite struct FollowingTests {
    private static let updates = [
        #"{"state":{"a":1,"b":{"c":[1,2]}}}"#, #"{"state":{"b":null}}"#, #"{"replace":{"z":0}}"#,
        #"{"state":{"a":2},"alert":{"title":"A","body":"B"}}"#,
        #"{"state":{"a":3},"alert":{"title":"C","body":"D"},"alert_ttl":"90s"}"#,
        #"{"relevance":7,"stale_after":"5m","urgency":"high"}"#, #"{"state_version":3,"state":{}}"#,
        #"{"state_version":2,"state":{"late":true}}"#,
    ]
    private static let clip = #"{"tween":{"path":"/a","from":0,"to":9,"duration":"60s"}}"#

    @Test(arguments: UInt64(1)...8)
    func `a head that follows is the head that the core writes`(seed: UInt64) throws {
        var chance = SplitMix64(seed: seed)
        var rig = Rig()
        rig.command(.start, #"{"type":"T","state":{"a":0},"alert":{"title":"X","body":"Y"}}"#)
        var (first, version) = try {
            let head = try #require(rig.heads[ActivityNumber(1)])
            return (head.0, head.1)
        }()
        #expect(!first.follows)
        for step in 0..<200 {
            rig.advance(to: Double(step * 20))
            let before = rig.history.count
            switch chance.next(below: 10) {
            case 0: rig.command(.play, Self.clip)
            case 1: rig.command(.stop, "{}")
            case let number:
                rig.command(.update, Self.updates[Int(number) % Self.updates.count])
            }
            guard rig.history.count > before else { continue }
            let head = try #require(rig.heads[ActivityNumber(1)])
            #expect(head.0.follows)
            let events = Array(rig.history[before...])
            let next = try #require(ActivityHead.following(first, version: version, events))
            #expect(
                String(decoding: next.value, as: UTF8.self)
                    == String(decoding: head.0.value, as: UTF8.self), "step \(step)")
            (first, version) = (next, head.1)
        }
        #expect(rig.history.count > 100)
    }

    @Test func `a start is never followed`() throws {
        var rig = Rig()
        rig.command(.start, #"{"type":"T","state":{"a":0}}"#)
        let head = try #require(rig.heads[ActivityNumber(1)])
        #expect(ActivityHead.following(head.0, version: 1, Array(rig.history[0...])) == nil)
    }
}
