import CoreRig
import Testing
import TomboloCore

/// What the core does when the log has no room, or says whether it has. Found by the simulation.
@Suite struct FullLogTests {
    @Test func `without room for the clock wall time leads by no more than is on record`() {
        var rig = Rig()
        rig.commitsByItself = false
        var recovery = CoreRecovery()
        recovery.lead = .hours(1)
        #expect(rig.core.recover(recovery, now: Rig.epoch).isEmpty)
        rig.core.holdLead(to: .zero)
        #expect(rig.core.wall(Rig.epoch) == Rig.epoch)
        rig.commit()
        #expect(rig.core.wall(Rig.epoch) == Rig.epoch + .hours(1))
    }

    @Test func `what is told in a turn counts before what is due in it`() {
        var rig = Rig()
        rig.runningActivity()
        rig.command(.update, #"{"state":{"lap":1}}"#)
        let mark = rig.pushes.count
        rig.now = Rig.epoch + .seconds(60)
        rig.step(.room(true))
        #expect(rig.pushes.count == mark)
        rig.step(.tick)
        #expect(rig.pushes.count == mark + 1)
    }
}
