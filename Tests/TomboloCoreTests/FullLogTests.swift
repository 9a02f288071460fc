import CoreRig
import Testing
import TomboloCore

/// What the core does when the log has no room, or says whether it has. Found by the simulation.
@Suite struct FullLogTests {
    @Test func `without room for the clock, no timestamp exceeds what the record allows`() {
        var rig = Rig.running(.lab, until: 60)
        rig.core.tellsThrough = rig.now
        rig.update(lap: 1)
        let before = rig.pushes.count
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
        rig.commitsByItself = false
        rig.now = rig.now + .seconds(1)
        rig.update(lap: 2)
        rig.commit()
        #expect(rig.pushes.count == before)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "reserving")
        // The shell puts a newer reading into the batch that is asked for.
        #expect(rig.core.hasBatch(now: rig.now) == true)
        rig.core.tellsThrough = rig.now + RelayClock.reach
        rig.commit()
        #expect(rig.pushes.count == before + 1)
    }

    @Test func `reports of a turn count before deadlines of the same turn`() {
        var rig = Rig.running()
        rig.update(lap: 1)
        let mark = rig.pushes.count
        // Nor is it a batch's commit that looks.
        rig.commitsByItself = false
        rig.now = Rig.epoch + .seconds(60)
        rig.step(.room(true))
        #expect(rig.pushes.count == mark)
        rig.commitsByItself = true
        rig.step(.tick)
        #expect(rig.pushes.count == mark + 1)
    }
}
