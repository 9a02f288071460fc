import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// How much one commit has to look at, and how often it looks.
@Suite struct CommitWeightTests {
    private static func rig(devices count: Int) -> Rig {
        var rig = Rig()
        rig.commitsByItself = false
        for index in 0..<count {
            rig.device("d\(index)", .lab, user: "u1")
            rig.token("widget", "e\(1_000 + index)0", "d\(index)")
            _ = rig.commit()
        }
        return rig
    }

    @Test func `a batch is full with as many devices as a commit looks at`() {
        var rig = Self.rig(devices: 100)
        for index in 0..<20 {
            #expect(rig.core.hasFullBatch == false, "\(index)")
            rig.command(
                .start, #"{"type":"T","audience":{"user":"u1"},"state":{"n":0}}"#, id: "a\(index)")
        }
        #expect(rig.core.hasFullBatch == true)
        while rig.commit() {}
        #expect(rig.core.hasFullBatch == false)
        // Each of them is on 100 devices now.
        for index in 0..<20 {
            #expect(rig.core.hasFullBatch == false, "\(index)")
            rig.command(.update, #"{"state":{"n":1}}"#, id: "a\(index)")
        }
        #expect(rig.core.hasFullBatch == true)
    }

    @Test func `changes of one card weigh once in a batch, and as events`() {
        var rig = Self.rig(devices: 1)
        rig.command(.start, #"{"type":"T","audience":{"user":"u1"},"state":{"n":0}}"#, id: "a")
        while rig.commit() {}
        for value in 1...Journal.eventsMax {
            #expect(rig.core.hasFullBatch == false, "\(value)")
            rig.command(.update, #"{"state":{"n":\#(value)}}"#, id: "a")
        }
        #expect(rig.core.hasFullBatch == true)
    }

    @Test func `an event that is taken back weighs nothing`() throws {
        var rig = Self.rig(devices: 1)
        let body = #"{"type":"T","audience":{"user":"u1"},"state":{}}"#
        for _ in 0..<3 {
            var effects = Effects()
            let start = try Command(.start, body, id: "a")
            rig.core.step(.atomic([start, start], Ticket(9)), now: rig.now, effects: &effects)
            if case .refusedBatch(index: 1, _)? = effects.answers.first?.1 { continue }
            Issue.record("the second line is there already")
        }
        #expect(!rig.core.journal.isFull)
    }

    @Test func `many changes in one commit wish one reload for each who shows it`() {
        var rig = Self.rig(devices: 3)
        rig.command(.start, #"{"type":"T","state":{"n":0}}"#, id: "door")
        _ = rig.commit()
        for index in 0..<50 {
            rig.timeline(
                #"{"subject":{"key":"k\#(index)","readers":{"users":["u1"]}},"#
                    + #""from":{"activity":"door"}}"#, kind: "door")
        }
        while rig.commit() {}
        for value in 1...60 { rig.command(.update, #"{"state":{"n":\#(value)}}"#, id: "door") }
        let isTaken = rig.take()
        #expect(isTaken)
        var effects = Effects()
        let before = rig.core.surfaces.count
        _ = rig.commit()
        rig.core.step(.tick, now: rig.now, effects: &effects)
        #expect(rig.core.surfaces.count == before, "no surface for each timeline")
        #expect(!rig.core.surfaces.hasWishes, "one wish for the user, and it is granted")
    }
}
