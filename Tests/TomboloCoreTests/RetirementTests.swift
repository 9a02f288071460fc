import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// Ended activities leave memory, and what is asked of them later is answered as ever.
@Suite struct RetirementTests {
    private static let key = ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!)

    /// A card that ended at second 1; what is kept is kept for a minute.
    private func ended() -> Rig {
        var rig = Rig { $0.limits.endedKept = .minutes(1) }
        rig.command(.start, #"{"type":"T","state":{"lap":1}}"#)
        rig.advance(to: 1)
        rig.command(.end, #"{"state":{"lap":2}}"#)
        return rig
    }

    /// The newest head of it, as the log would answer.
    private func head(_ rig: borrowing Rig) throws -> Input {
        let (head, version, seq) = try #require(rig.heads.values.first)
        return .remembered(PositionedHead(head, version: version, seq: seq))
    }

    @Test func `an ended activity stays for late readers, and leaves when their time is over`() {
        var rig = ended()
        rig.advance(to: 60.9)
        #expect(rig.view()?.status == .ended)
        #expect(rig.core.mayHaveRetired(Self.key) == false)
        #expect(rig.core.mayHaveRetired(among: [Self.key]).isEmpty)
        rig.advance(to: 70)
        #expect(rig.view() == nil)
        #expect(rig.core.mayHaveRetired(Self.key) == true)
        #expect(rig.core.mayHaveRetired(among: [Self.key, Self.key]) == [Self.key, Self.key])
        #expect(rig.core.nextWake == nil, "nothing is left to do")
    }

    @Test func `what the log remembers is refused, shown and begun again as if it had stayed`()
        throws
    {
        var rig = ended()
        rig.advance(to: 70)
        rig.step(try head(rig))
        #expect(rig.view()?.version == 2)
        #expect(rig.view()?.state.bytes == Array(#"{"lap":2}"#.utf8))
        rig.update(lap: 3)
        #expect(rig.lastRefusal == .activityEnded)
        rig.command(.start, #"{"type":"T","state":{"lap":1}}"#) { $0.restart = true }
        #expect(rig.lastAccepted?.version == 3)
        #expect(rig.view()?.incarnation == 2)
        rig.advance(to: 5_000)
        #expect(rig.view()?.status == .waiting, "it lives again")
    }

    @Test func `a card of one that was only remembered is forgotten at the next start`() throws {
        var rig = Rig { $0.limits.endedKept = .minutes(1) }
        rig.device()
        rig.command(.start, #"{"type":"T","audience":{"device":"phone"},"state":{}}"#)
        rig.command(.end, "{}")
        rig.advance(to: 70)
        rig.step(try head(rig))
        rig.token("activity:cat", "aa")
        rig.advance(to: 75)
        #expect(rig.line() == "70:E10{}")
        let checkpoints = rig.stored.filter { $0.space == .checkpoint && $0.value != nil }
        let number = try #require(checkpoints.last).number
        // In the log it has retired: no head of it lives.
        var recovery = rig.recovery()
        recovery.heads = []
        #expect(rig.recover(recovery) == [])
        let last = rig.stored.last { $0.space == .checkpoint && $0.number == number }
        #expect(last != nil && last?.value == nil)
    }

    @Test func `one that is asked for and not begun again leaves again`() throws {
        var rig = ended()
        rig.advance(to: 70)
        rig.step(try head(rig))
        rig.advance(to: 5_000)
        #expect(rig.view() == nil)
    }

    @Test func `an activity takes the place of one that left`() {
        var rig = ended()
        rig.advance(to: 70)
        for id in ["dog", "owl"] {
            rig.command(.start, #"{"type":"T","state":{"lap":9}}"#, id: id)
        }
        #expect(rig.view("dog")?.state.bytes == Array(#"{"lap":9}"#.utf8))
        #expect(rig.view("owl")?.version == 1)
        #expect(rig.view() == nil)
    }

    @Test func `after a crash the ended leave at their time`() throws {
        var rig = ended()
        #expect(rig.crash(recoverAt: 30).isEmpty)
        #expect(rig.view()?.status == .ended)
        rig.advance(to: 70)
        #expect(rig.view() == nil)
    }

    @Test func `one that begins again while it leaves does not leave`() throws {
        var rig = ended()
        rig.commitsByItself = false
        // Its time is over; nothing is written yet.
        rig.advance(to: 62)
        rig.command(.start, #"{"type":"T","state":{"lap":1}}"#) { $0.restart = true }
        let next = rig.core.takeBatch(now: rig.now)
        let batch = try #require(next)
        #expect(batch.events.map(\.kind) == [.start])
        #expect(batch.retired.isEmpty, "the log would move its head out of what lives")
    }

    @Test func `one that begins again while its leave is written stays, and is written again`()
        throws
    {
        var rig = ended()
        rig.commitsByItself = false
        // Its leave is on its way to the disk.
        while rig.now < Rig.epoch + .seconds(64), let wake = rig.core.nextWake {
            rig.now = max(rig.now, wake)
            rig.step(.tick)
            if rig.take() { break }
        }
        rig.command(.start, #"{"type":"T","state":{"lap":1}}"#) { $0.restart = true }
        rig.commit()
        #expect(rig.view()?.version == 2, "it is there still")
        let next = rig.core.takeBatch(now: rig.now)
        let batch = try #require(next)
        #expect(batch.events.map(\.kind) == [.start])
        #expect(batch.retired.isEmpty)
    }
}
