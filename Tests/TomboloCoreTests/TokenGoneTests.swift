import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What a 410 means, by the age of its card (pacing rule 14).
@Suite struct TokenGoneTests {
    private static func starts(_ rig: borrowing Rig) -> [String] {
        rig.pushes.filter { $0.push.event == .start }.map { Rig.text($0.at) }
    }

    @Test func `a lost card is replaced once and not twice, even after a crash`() {
        for crashes in [false, true] {
            var rig = CardLifeTests.running(#","on_token_gone":"restart""#, until: 60)
            rig.verdict = { $0.event == .start ? .accepted : CardLifeTests.gone }
            rig.update(lap: 1, until: 120)
            rig.token("activity:cat", "cc")
            rig.advance(to: 130)
            if crashes { #expect(rig.crash(recoverAt: 140).isEmpty) }
            rig.advance(to: 700)
            rig.update(lap: 2, until: 2_000)
            #expect(Self.starts(rig).count == 2)
            #expect(CardLifeTests.phases(rig) == ["unreachable"])
        }
    }

    @Test func `a token that dies with its card's age is no loss`() {
        for (minutes, starts) in [(7 * 60 + 49, 2), (7 * 60 + 50, 1)] {
            var rig = CardLifeTests.running(
                #","on_token_gone":"restart""#, until: Double(minutes * 60))
            rig.verdict = { $0.token == "bb" ? CardLifeTests.gone : .accepted }
            rig.update(lap: 1, .high, until: 9 * 3_600)
            #expect(Self.starts(rig).count == starts, "\(minutes) minutes")
        }
    }

    @Test func `a card that dies of age while its successor waits keeps its renewal`() {
        var rig = CardLifeTests.running(#","renew":"always""#, until: 7 * 3_600)
        let pause = rig.pause(#"{"all":true,"alerts_only":true}"#)
        rig.advance(to: 7 * 3_600 + 51 * 60)
        rig.verdict = { $0.token == "bb" ? CardLifeTests.gone : .accepted }
        rig.update(lap: 1, .high, until: 7 * 3_600 + 52 * 60)
        rig.resume(pause)
        rig.advance(to: 9 * 3_600)
        #expect(Self.starts(rig).count == 2)
    }
}
