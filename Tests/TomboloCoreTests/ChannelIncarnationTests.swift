import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Cards of one incarnation, and the channel of the next.
@Suite struct ChannelIncarnationTests {
    /// Seed 9135 of the simulation: its start was taken when the next incarnation had a channel, so
    /// it was believed to listen there, and never ended.
    @Test func `a card from before a channel does not listen on the next incarnation's`() {
        var rig = Rig()
        rig.makesChannels = true
        rig.device("phone", .standard, os: "18.1")
        rig.token("start:Runner", "aa")
        rig.verdict = { _ in nil }
        rig.start()
        rig.advance(to: 1)
        rig.command(.end, "{}")
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone","start":"channel"},"state":{"lap":7}}"#
        ) { $0.restart = true }
        rig.advance(to: 2)
        rig.verdict = { _ in .accepted }
        for push in rig.flying { rig.answer(push, .accepted) }
        rig.advance(to: 5)
        rig.token("activity:cat", "bb")
        rig.advance(to: 30)
        let ends = rig.pushes.map(\.push).filter { $0.event == .end }
        #expect(ends.map(\.token) == ["bb"])
    }
}
