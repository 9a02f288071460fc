import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What a type says where its producer says nothing.
@Suite struct TypeDefaultTests {
    @Test func `an alert waits as long as its type says, and the log tells so`() {
        var rig = Rig()
        rig.type(#"{"alert_ttl":"30s"}"#)
        rig.device()
        rig.token("start:Runner", "aa")
        rig.start()
        let pause = rig.pause(#"{"activity":"cat"}"#)
        rig.token("activity:cat", "bb")
        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"t"}}"#)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"u"},"alert_ttl":"5m"}"#)
        rig.advance(to: 40)
        rig.resume(pause)
        rig.advance(to: 60)
        let titles = rig.pushes.compactMap { Rig.aps($0.push)?["alert"]?["title"]?.string }
        #expect(titles == ["", "u"], "the first waited 30 s and expired, the second five minutes")
        let kept = rig.history.map { String(decoding: $0.event.body, as: UTF8.self) }
        #expect(kept[1] == #"{"state":{"lap":1},"alert":{"title":"t"},"alert_ttl":"30s"}"#)
        #expect(kept[2].contains(#""alert_ttl":"5m""#))
    }

    @Test func `the log alone gives the head that the core wrote`() throws {
        var rig = Rig()
        rig.type(#"{"alert_ttl":"30s"}"#)
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{},"alert":{"title":"t"}}"#)
        var fold = ActivityFold()
        for event in rig.history { #expect(fold.apply(event) == nil) }
        let (head, version, _) = try #require(rig.heads.values.first)
        #expect(fold.difference(fromHead: head.value, version: version) == nil)
    }

    @Test func `an equal start is the same, though its type adds an alert's time`() {
        var rig = Rig()
        rig.type(#"{"alert_ttl":"30s","show_when":{"frames":"always"}}"#)
        let start =
            #"{"type":"Runner","audience":{"device":"phone"},"state":{},"alert":{"title":"t"}}"#
        rig.command(.start, start)
        rig.command(.start, start)
        #expect(rig.lastAccepted?.changed == false)
    }

    @Test func `frames go when the type says, and a start knows better`() {
        for (own, frames) in [("", 5), (#","show_when":{"frames":"background"}"#, 0)] {
            var rig = Rig()
            rig.type(#"{"show_when":{"frames":"always"}}"#)
            rig.device("phone", .lab)
            rig.token("start:Runner", "aa")
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}"# + own + "}")
            rig.token("activity:cat", "bb")
            rig.advance(to: 5)
            rig.presence(.active)
            rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[1,2],"every":"1s"}}"#)
            rig.advance(to: 5.5)
            let before = rig.pushes.count
            rig.advance(to: 10.5)
            let pushes = rig.pushes.dropFirst(before)
            #expect(pushes.count { $0.push.expiration == 0 } == frames)
        }
    }

    @Test func `what show_when may say is checked`() {
        let bad = Rig.json(#"{"show_when":{"frames":"never"}}"#)
        #expect(throws: FieldErrors.self) { try ActivityType(reading: bad) }
        #expect(throws: Never.self) { try ActivityType(reading: bad, lenient: true) }
    }
}
