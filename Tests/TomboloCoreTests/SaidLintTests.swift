import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

@Suite struct SaidLintTests {
    private func lints(_ rig: borrowing Rig) -> [Lint] { rig.lastAccepted?.lint ?? [] }

    @Test(arguments: [
        (#"{"path":"/lap","frames":[1,2],"every":"1s"}"#, [Lint.Code.clipForever]),
        (#"{"path":"/lap","frames":[1,2],"every":"1s","loop":"once"}"#, []),
        (#"{"path":"/lap","frames":[1,2],"every":"1s","loop":3}"#, []),
        (#"{"path":"/lab","frames":[1,2],"every":"1s","loop":3}"#, [.stateUnknownMember]),
    ])
    func `a flip-book without an end, or at a place that the type does not have, is told`(
        book: String, wanted: [Lint.Code]
    ) {
        var rig = Rig()
        rig.type(#"{"state":{"properties":{"lap":{"type":"integer"}}}}"#)
        rig.runningActivity(.lab)
        rig.advance(to: 1)
        rig.command(.play, #"{"flipbook":\#(book)}"#)
        #expect(lints(rig).map(\.code) == wanted)
        if wanted == [.stateUnknownMember] {
            #expect(lints(rig).first?.pointer == "/flipbook/path")
            #expect(lints(rig).first?.message.contains("\"lap\"?") == true)
        }
    }

    @Test(arguments: [
        (#"{"all":true}"#, true), (#"{"type":"Runner"}"#, true), (#"{"activity":"cat"}"#, true),
        (#"{"activity":"other"}"#, false), (#"{"app":"com.example.app"}"#, true),
        (#"{"app":"com.example.none"}"#, false),
    ])
    func `a change under a pause names the pause, and any other change does not`(
        pause: String, isHeld: Bool
    ) {
        var rig = Rig.running()
        _ = rig.pause(pause)
        rig.update(lap: 1)
        #expect(lints(rig).map(\.code) == (isHeld ? [.pauseInForce] : []))
        if isHeld { #expect(lints(rig).first?.message.contains("resume pause_1") == true) }
    }

    @Test func `a pause of alerts holds starts, and takes the alert of an update`() {
        var rig = Rig.running()
        _ = rig.pause(#"{"all":true,"alerts_only":true}"#)
        rig.update(lap: 1)
        #expect(lints(rig).isEmpty)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"a"}}"#)
        #expect(lints(rig).first?.message.contains("without its alert") == true)
        rig.command(
            .start,
            #"{"type":"Runner","state":{},"audience":{"device":"phone"},"alert":{"title":"a"}}"#,
            id: "dog")
        #expect(lints(rig).first?.message.contains("the start waits") == true)
    }
}
