import CoreRig
import Testing
import TomboloCore

/// What is due at one moment goes in turns of a bounded length.
@Suite struct TurnTests {
    @Test func `a turn ends with so many pushes, and what else is due goes with the next ones`() {
        var rig = Rig()
        let all = Core.pushesPerTurnMax * 2 + 40
        for index in 0..<all {
            let name = "c\(index)"
            rig.device("d\(index)", .lab)
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"d\#(index)","start":"adopt"},"#
                    + #""state":{"lap":0}}"#, id: name)
            rig.token("activity:\(name)", "a\(1_000 + index)0", "d\(index)")
        }
        rig.advance(to: 5)
        for index in 0..<all { rig.command(.play, ClipTests.clip, id: "c\(index)") }
        rig.advance(to: 5.05)
        rig.now = Rig.epoch + .milliseconds(5_100)
        var counts: [Int] = []
        var devices: Set<PushID> = []
        while let wake = rig.core.nextWake, wake <= rig.now, counts.count < 9 {
            var effects = Effects()
            rig.core.step(.tick, now: rig.now, effects: &effects)
            counts.append(effects.pushes.count)
            devices.formUnion(effects.pushes.map(\.id))
        }
        #expect(counts == [Core.pushesPerTurnMax, Core.pushesPerTurnMax, 40])
        #expect(devices.count == all)
    }
}
