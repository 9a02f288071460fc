import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Only what shows is pushed (pacing rule 17).
@Suite struct VisibilityTests {
    private static func rig(_ type: String) -> Rig {
        var rig = Rig()
        rig.type(type)
        rig.runningActivity()
        rig.advance(to: 60)
        return rig
    }

    private static func look(_ visibility: String, _ state: String) throws -> UInt64? {
        try ActivityType(reading: Rig.json(visibility)).visibility?.hash(
            of: JSON(unchecked: Array(state.utf8)))
    }

    @Test(arguments: [
        (#"{"significant":["/score"]}"#, #"{"score":[1,2],"clock":7}"#, #"{"score":[1,2]}"#, true),
        (#"{"significant":["/score"]}"#, #"{"score":[1,2]}"#, #"{"score":[1,3]}"#, false),
        (#"{"significant":["/score"]}"#, #"{"score":null}"#, #"{}"#, false),
        (#"{"significant":["/a","/b"]}"#, #"{"a":1}"#, #"{"b":1}"#, false),
        (#"{"round":{"/left":5}}"#, #"{"left":58,"at":1}"#, #"{"left":62,"at":1}"#, true),
        (#"{"round":{"/left":5}}"#, #"{"left":58,"at":1}"#, #"{"left":63,"at":1}"#, false),
        (#"{"round":{"/left":5}}"#, #"{"left":58,"at":1}"#, #"{"left":58,"at":2}"#, false),
        (#"{"round":{"/left":5}}"#, #"{"left":-1}"#, #"{"left":1}"#, true),
        (#"{"round":{"/left":5}}"#, #"{"left":"58"}"#, #"{"left":"59"}"#, false),
        (#"{"round":{"/left":5}}"#, #"{"left":0}"#, #"{}"#, false),
        (#"{"round":{"/left":1e-300}}"#, #"{"left":1e300}"#, #"{"left":2e300}"#, false),
        (
            #"{"significant":["/score"],"round":{"/score/home":10}}"#,
            #"{"score":{"home":11,"away":1}}"#, #"{"score":{"home":9,"away":1}}"#, true
        ),
        (
            #"{"significant":["/phase"],"round":{"/left":5}}"#,
            #"{"phase":"a","left":5,"at":1}"#, #"{"phase":"a","left":10,"at":1}"#, false
        ),
    ])
    func `two states look alike, or do not`(
        type: String, one: String, other: String, isSame: Bool
    ) throws {
        let first = try #require(try Self.look(type, one))
        #expect((first == (try Self.look(type, other))) == isSame)
    }

    @Test(arguments: [
        (#"{"significant":[]}"#, "/significant"), (#"{"significant":["score"]}"#, "/significant"),
        (#"{"significant":[""]}"#, "/significant"), (#"{"significant":"/a"}"#, "/significant"),
        (#"{"round":{}}"#, "/round"), (#"{"round":{"/a":0}}"#, "/round/~1a"),
        (#"{"round":{"/a":-1}}"#, "/round/~1a"), (#"{"round":{"/a":"5"}}"#, "/round/~1a"),
        (#"{"round":{"a":5}}"#, "/round/a"), (#"{"round":[5]}"#, "/round"),
        (#"{"state":{"properties":{"score":{}}},"significant":["/scrore"]}"#, "/significant"),
    ])
    func `what names no value is refused, with its place`(body: String, pointer: String) {
        #expect(Rig.faults { try ActivityType(reading: Rig.json(body)) } == [pointer])
    }

    @Test func `a change of what does not show is kept, and spends no push`() {
        var rig = Self.rig(#"{"significant":["/lap"]}"#)
        rig.command(.update, #"{"state":{"lap":1,"pulse":90}}"#)
        rig.advance(to: 120)
        rig.command(.update, #"{"state":{"pulse":91}}"#)
        #expect(rig.lastAccepted?.decision == .skipped(.notVisible))
        rig.command(.update, #"{"state":{"lap":1,"pulse":91}}"#)
        rig.advance(to: 180)
        #expect(rig.line(from: 1) == #"60:U10{"lap":1,"pulse":90}"#)
        #expect(rig.view()?.destinations.first?.acknowledgedVersion == 4)
        #expect(rig.ledgers()[0].ledger.counts.notVisible == 2)
        rig.update(lap: 2, .high, until: 200)
        #expect(rig.line(from: 2) == #"180:U10{"lap":2,"pulse":91}"#)
    }

    @Test func `a type that says otherwise counts at once`() {
        var rig = Self.rig(#"{"significant":["/lap"]}"#)
        rig.command(.update, #"{"state":{"lap":1,"pulse":90},"urgency":"high"}"#)
        rig.advance(to: 120)
        rig.type(#"{"significant":["/pulse"]}"#)
        rig.command(.update, #"{"state":{"pulse":91},"urgency":"high"}"#)
        rig.advance(to: 180)
        rig.update(lap: 2, .high, until: 240)
        #expect(rig.line(from: 1) == #"60:U10{"lap":1,"pulse":90} 120:U10{"lap":1,"pulse":91}"#)
    }

    @Test func `a new life of an activity shows its own state`() {
        var rig = Self.rig(#"{"significant":["/lap"]}"#)
        rig.command(.end, #"{"dismiss":"now"}"#)
        rig.advance(to: 120)
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0,"n":1}}"#
        ) { $0.restart = true }
        rig.advance(to: 130)
        #expect(rig.pushes.last?.push.event == .start)
        rig.token("activity:cat~2", "cc")
        rig.advance(to: 200)
        rig.command(.update, #"{"state":{"n":2},"urgency":"high"}"#)
        #expect(rig.lastAccepted?.decision == .skipped(.notVisible))
    }

    @Test func `the echo brings what was left out`() {
        var rig = Self.rig(#"{"significant":["/lap"]}"#)
        rig.command(.update, #"{"state":{"lap":1,"pulse":90}}"#)
        rig.advance(to: 120)
        rig.command(.update, #"{"state":{"pulse":91}}"#)
        rig.advance(to: 7_000)
        #expect(rig.line(from: 2) == #"720:U5{"lap":1,"pulse":91}"#)
    }

    @Test func `alerts, stale dates and ends go all the same`() {
        var rig = Self.rig(#"{"significant":["/lap"]}"#)
        rig.command(.update, #"{"state":{"lap":1},"stale_after":"20m"}"#)
        rig.advance(to: 120)
        rig.command(.update, #"{"state":{"pulse":1},"alert":{"title":"a"}}"#)
        rig.advance(to: 800)
        rig.command(.update, #"{"state":{"pulse":2}}"#)
        rig.advance(to: 810)
        rig.command(.end, #"{"state":{"lap":1,"pulse":3}}"#)
        let events = rig.pushes.dropFirst().map { "\(Rig.text($0.at)) \($0.push.event)" }
        #expect(events == ["60 update", "120 update", "720 update", "800 update", "810 end"])
    }

    @Test func `after a lost answer the state goes again, whatever shows`() {
        var rig = Self.rig(#"{"round":{"/lap":10}}"#)
        rig.update(lap: 20, until: 120)
        rig.verdict = { _ in .unknown(reason: "the connection broke") }
        rig.update(lap: 30)
        rig.verdict = { _ in .accepted }
        rig.update(lap: 29, until: 140)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":29}"#)
    }

    @Test func `widgets are not reloaded for what does not show`() {
        var rig = ReloadTests.rig()
        rig.type(#"{"significant":["/lap"],"reloads":{"widgets":true}}"#)
        rig.token("start:Runner", "aa")
        rig.start()
        rig.advance(to: 1_000)
        let before = rig.pushes.count { $0.push.surface == .widgets }
        rig.command(.update, #"{"state":{"pulse":1}}"#)
        rig.advance(to: 2_000)
        #expect(rig.pushes.count { $0.push.surface == .widgets } == before)
        rig.update(lap: 1, until: 3_000)
        #expect(rig.pushes.count { $0.push.surface == .widgets } == before + 1)
    }
}
