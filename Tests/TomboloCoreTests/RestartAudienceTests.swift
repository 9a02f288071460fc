import CoreRig
import Testing
import TomboloCore

/// An end and the next start may be on their way to the disk together: each is for its own
/// audience.
@Suite struct RestartAudienceTests {
    private static let first = #"{"type":"Runner","audience":{"device":"one"},"state":{"n":1}}"#
    private static let second = #"{"type":"Runner","audience":{"device":"two"},"state":{"n":2}}"#

    private static func rig() -> Rig {
        var rig = Rig()
        rig.device("one")
        rig.device("two")
        return rig
    }

    private static func restart(_ rig: inout Rig) {
        rig.command(.end, "{}")
        rig.command(.start, second) { $0.restart = true }
    }

    @Test func `a restart in one batch removes the earlier audience`() {
        var rig = Self.rig()
        rig.command(.start, Self.first)
        rig.commitsByItself = false
        Self.restart(&rig)
        rig.commit()
        rig.commitsByItself = true
        rig.token("start:Runner", "aa", "one")
        rig.device("one")
        #expect(rig.pushes.isEmpty, "nothing is for it")
        rig.token("start:Runner", "bb", "two")
        #expect(rig.line() == #"0:S10{"n":2}"#)
    }

    @Test func `a card does not start with the content of the next start`() {
        var rig = Self.rig()
        rig.token("start:Runner", "aa", "one")
        rig.commitsByItself = false
        rig.command(.start, Self.first)
        rig.commit()
        let isReserving = rig.take()
        #expect(isReserving)
        Self.restart(&rig)
        rig.commit()
        #expect(rig.pushes.isEmpty, "the end is on its way to the disk")
        while rig.commit() {}
        #expect(rig.pushes.isEmpty)
    }
}
