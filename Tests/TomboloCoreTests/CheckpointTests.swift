import CoreRig
import Testing
import TomboloCore

/// When what a relay knows of its destinations goes to the disk.
@Suite struct CheckpointTests {
    private static func checkpoints(_ rig: borrowing Rig) -> Int {
        rig.stored.count { $0.space == .checkpoint }
    }

    @Test func `sent updates are on record soon, but not with every batch`() {
        var rig = Rig.running(.lab, until: 60)
        let (checkpoints, pushes) = (Self.checkpoints(rig), rig.pushes.count)
        rig.laps(1...10) { 60 + 0.1 * Double($0) }
        #expect(rig.pushes.count >= pushes + 10)
        #expect(Self.checkpoints(rig) == checkpoints)
        rig.advance(to: 62.5)
        #expect(Self.checkpoints(rig) == checkpoints + 1)
    }

    @Test func `a flush that is too large for one batch ends, however often its cards change`() {
        let names = (0..<300).map { "d-\($0)" }
        var rig = Rig()
        for name in names { rig.device(name, .lab) }
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        rig.command(
            .start,
            #"{"type":"Runner","state":{"lap":0},"#
                + #""audience":{"devices":[\#(list)],"start":"adopt"}}"#)
        for (place, name) in names.enumerated() {
            rig.token("activity:cat", "bb" + String(1_000 + place), name)
        }
        rig.advance(to: 10)
        let (checkpoints, pushes) = (Self.checkpoints(rig), rig.pushes.count)
        rig.laps(1...400) { 10 + 0.01 * Double($0) }
        #expect(rig.pushes.count == pushes + 400 * names.count)
        #expect((1...3).contains((Self.checkpoints(rig) - checkpoints) / names.count))
    }

    @Test func `any other change of a checkpoint goes with the next batch, even after an update`() {
        var rig = Rig.running(.lab, until: 60)
        let checkpoints = Self.checkpoints(rig)
        rig.update(lap: 1)
        rig.command(.end, "{}")
        #expect(Self.checkpoints(rig) == checkpoints)
        rig.command(.start, #"{"type":"Runner","state":{"lap":0}}"#, id: "dog")
        #expect(Self.checkpoints(rig) == checkpoints + 1)
        rig.advance(to: 70)
        #expect(Self.checkpoints(rig) == checkpoints + 1)
    }

    @Test func `before a relay stops all checkpoints are on record`() {
        var rig = Rig.running(.lab, until: 60)
        rig.update(lap: 1)
        #expect(rig.core.hasBatch(now: rig.now) == false)
        let last = rig.core.takeBatch(now: rig.now, writesAll: true)
        #expect(last?.records.count { $0.space == .checkpoint } == 1)
    }

    @Test func `a head that is made later is that of its batch`() throws {
        var rig = Rig.running(.lab, until: 60)
        rig.commitsByItself = false
        rig.update(lap: 1)
        let batch = rig.core.takeBatch(now: rig.now)
        rig.update(lap: 2)
        let head = try #require(batch?.heads.first)
        #expect(String(decoding: head.value, as: UTF8.self).contains(#""state":{"lap":1}"#))
        #expect(
            head
                == ActivityHead(activity: head.activity, value: head.value, follows: head.follows))
    }
}
