import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Cards of which a relay learns late what it cannot have seen.
@Suite struct LateCardTests {
    @Test func `a card of which only the token is learned is as old as its own start`() {
        var rig = Rig.phone()
        rig.command(
            .start,
            """
            {"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},
            "on_unknown_start":"resend"}
            """)
        rig.token("activity:cat", "bb")
        rig.advance(to: 100)
        // Without a token it hears of no end.
        rig.deleteToken("activity:cat", "bb")
        rig.tell(.delete)
        rig.advance(to: 200)
        rig.device()
        // Its start is never answered.
        rig.verdict = { _ in nil }
        rig.token("start:Runner", "ab")
        rig.advance(to: 220)
        #expect(rig.pushes.count { $0.push.event == .start } == 2)
        // And it cannot be sent again.
        rig.deleteToken("start:Runner", "ab")
        rig.advance(to: 600)
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat~1.1", "bc")
        // The system has ended the card of second 0, and not yet that of second 200.
        rig.advance(to: 8 * 3_600 + 100)
        let count = rig.pushes.count
        rig.update(lap: 9, .high)
        #expect(rig.line(from: count) == #"28900:U10{"lap":9}"#)
    }

    @Test func `a card that was renewed in a lost part of the log gets no older timestamp`() throws
    {
        var rig = Rig.phone()
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0},"renew":"always"}"#)
        rig.token("activity:cat", "bb")
        rig.advance(to: 27_000)
        var backup = rig.recovery()
        rig.advance(to: 27_700)
        rig.token("activity:cat~1.1", "cc")
        let newest = rig.pushes.compactMap { Rig.aps($0.push)?["timestamp"]?.integer }.max()
        backup.restoredAt = rig.core.wall(rig.now)
        rig.recover(backup)
        let count = rig.pushes.count
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 27_800)
        let later = rig.pushes.dropFirst(count).filter { $0.push.token == "cc" }
        let first = try #require(later.first.flatMap { Rig.aps($0.push)?["timestamp"]?.integer })
        #expect(first > (newest ?? 0) + 2)
    }
}
