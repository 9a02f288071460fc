import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A start whose outcome comes late, or never, while its card is there already. Found by the
/// simulation.
@Suite struct UnknownStartTests {
    static let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#

    /// A start in flight whose card has registered its update token.
    static func cardBeforeAnswer() -> Rig {
        var rig = Rig.phone(.standard)
        rig.verdict = { $0.event == .start ? nil : .accepted }
        rig.command(.start, start)
        rig.token("activity:cat", "bb")
        return rig
    }

    @Test func `a start that is never answered leaves a card alone that has a token`() {
        var rig = Self.cardBeforeAnswer()
        rig.advance(to: 200)
        rig.update(lap: 1)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
        #expect(rig.pushes.last?.push.token == "bb")
    }

    @Test(arguments: [
        PushResult.notSent(reason: "no connection"),
        .refusal(429, "TooManyRequests", .tokenBackOff),
        .refusal(400, "BadMessageId", .push),
        .unknown(reason: "the connection broke"),
    ])
    func `no outcome of a start makes a second one of a card that is there`(_ result: PushResult) {
        var rig = Self.cardBeforeAnswer()
        rig.answer(rig.flying[0], result)
        rig.advance(to: 400)
        #expect(rig.pushes.filter { $0.push.event == .start }.count == 1)
        rig.update(lap: 1, until: 800)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
    }

    @Test func `a start that is accepted late is not sent again`() {
        var rig = Rig.phone(.standard)
        rig.verdict = { _ in nil }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"#
                + #""on_unknown_start":"resend"}"#)
        rig.advance(to: 40)
        rig.answer(rig.flying[0], .accepted)
        rig.advance(to: 400)
        #expect(rig.pushes.count == 1)
        #expect(rig.view()?.destinations.first?.phase == "started")
    }

    @Test func `a start's alert does not ring again after a crash`() {
        var rig = Rig.phone(.standard)
        rig.verdict = { _ in nil }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"#
                + #""alert":{"title":"go"}}"#)
        #expect(rig.pushes.count == 1)
        _ = rig.crash(recoverAt: 1)
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat", "bb")
        rig.advance(to: 30)
        let rung = rig.pushes.filter { Rig.aps($0.push)?["alert"]?["title"]?.string == "go" }
        #expect(rung.count == 1)
    }
}
