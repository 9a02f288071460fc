import CoreRig
import Testing
import TomboloCore

/// While the disk is behind, what waits for it is bounded by number and by size.
@Suite struct BackPressureTests {
    private static let body = #"{"type":"T","state":{"a":1}}"#

    private func slow(_ change: @escaping (inout CoreConfiguration) -> Void) -> Rig {
        var rig = Rig(change)
        rig.commitsByItself = false
        return rig
    }

    @Test func `events are refused when so many wait, and taken when the disk has caught up`() {
        var rig = slow { $0.limits.pendingEventsMax = 3 }
        for index in 1...3 { rig.command(.start, Self.body, id: "a\(index)") }
        #expect(rig.answers.isEmpty, "they wait")
        rig.command(.start, Self.body, id: "a4")
        #expect(rig.lastRefusal == .overloaded)
        while rig.commit() {}
        #expect(rig.answers.count == 4)
        rig.command(.start, Self.body, id: "a4")
        while rig.commit() {}
        #expect(rig.lastAccepted?.version == 1)
    }

    @Test func `events are refused when so many bytes wait`() {
        let size = Self.body.utf8.count
        var rig = slow { $0.limits.pendingBytesMax = 3 * size }
        for index in 1...3 { rig.command(.start, Self.body, id: "a\(index)") }
        #expect(rig.answers.isEmpty, "exactly as many as may")
        rig.command(.start, Self.body, id: "a4")
        #expect(rig.lastRefusal == .overloaded)
        while rig.commit() {}
        rig.command(.start, Self.body, id: "a4")
        #expect(rig.answers.count == 4)
    }

    @Test func `an event larger than all that may wait is taken alone`() {
        var rig = slow { $0.limits.pendingBytesMax = 1 }
        rig.command(.start, Self.body)
        #expect(rig.answers.isEmpty)
        rig.command(.start, Self.body, id: "second")
        #expect(rig.lastRefusal == .overloaded)
    }

    @Test func `a batch that is taken back takes its bytes back`() throws {
        let size = Self.body.utf8.count
        let commands = try [Self.body, #"{"type":"U","state":{}}"#].map { text in
            try Command(.start, text, id: "a1")
        }
        var rig = slow { $0.limits.pendingBytesMax = 2 * size }
        rig.step(.atomic(commands, Ticket(900)))
        #expect(rig.answers.count == 1, "the second start is refused, and the first with it")
        rig.command(.start, Self.body, id: "b1")
        rig.command(.start, Self.body, id: "b2")
        #expect(rig.answers.count == 1, "there is room for two")
    }
}
