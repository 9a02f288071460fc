import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A log that was put back from a backup: phones may have had more than it knows of.
@Suite struct RestoreTests {
    /// A card that runs, and an alert that waits: Apple takes nothing more.
    private func waitingAlert() -> Rig {
        var rig = Rig.running()
        rig.verdict = { _ in nil }
        rig.advance(to: 5)
        rig.update(lap: 1)
        rig.command(
            .update,
            #"{"state":{"lap":2},"alert":{"title":"a","body":"b"},"alert_ttl":"10m"}"#)
        return rig
    }

    private func alerts(_ rig: borrowing Rig, from mark: Int) -> Int {
        rig.pushes.dropFirst(mark).count { Rig.aps($0.push)?["alert"] != nil }
    }

    @Test func `an alert that was not tried is still sent after a crash`() {
        var rig = waitingAlert()
        let mark = rig.pushes.count
        rig.verdict = { _ in .accepted }
        #expect(rig.crash(recoverAt: 20).isEmpty)
        rig.advance(to: 60)
        #expect(alerts(rig, from: mark) == 1)
    }

    @Test func `after a restore alerts from before it stay silent, and the state goes on`() {
        var rig = waitingAlert()
        let mark = rig.pushes.count
        rig.verdict = { _ in .accepted }
        #expect(rig.crash(recoverAt: 20, restored: true).isEmpty)
        rig.advance(to: 60)
        #expect(alerts(rig, from: mark) == 0)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":2}"#)
        rig.command(
            .update, #"{"state":{"lap":3},"alert":{"title":"c","body":"d"},"alert_ttl":"10m"}"#)
        rig.advance(to: 90)
        #expect(alerts(rig, from: mark) == 1, "what comes after it rings")
    }

    /// Found by the simulation: what phones had got from the gap stayed on them.
    @Test func `after a restore the state goes again, for phones may show the gap's`() {
        var rig = Rig.running()
        rig.update(lap: 1, until: 60)
        let mark = rig.pushes.count
        #expect(rig.crash(recoverAt: 70, restored: true).isEmpty)
        rig.advance(to: 120)
        #expect(rig.pushes.count == mark + 1)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":1}"#)
    }

    @Test func `after a restore a new card whose token comes takes its place without a start`() {
        var rig = CardLifeTests.running(#","renew":"always""#, until: 60)
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 8 * CardLifeTests.hour - 1_000)
        #expect(rig.pushes.count { $0.push.event == .start } == 1)
        #expect(CardLifeTests.phases(rig) == ["ended", "live"])
    }

    @Test func `after a restore a new card that was due before it is not started again`() {
        var rig = CardLifeTests.running(
            #","renew":"always""#, until: 8 * CardLifeTests.hour - 1_300)
        let mark = rig.pushes.count
        #expect(rig.crash(recoverAt: 8 * CardLifeTests.hour - 1_100, restored: true).isEmpty)
        rig.advance(to: 8 * CardLifeTests.hour - 600)
        rig.update(lap: 1, until: 8 * CardLifeTests.hour - 500)
        #expect(rig.pushes.dropFirst(mark).allSatisfy { $0.push.event == .update })
        #expect(rig.pushes.last?.push.token == "bb", "the old card goes on")
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 8 * CardLifeTests.hour - 400)
        #expect(CardLifeTests.phases(rig) == ["ended", "live"], "it had been started")
    }

    /// Seed 303 of the simulation: the start had been refused before the backup, and was retried,
    /// and taken, after it.
    @Test func `after a restore a refused start is not retried, for its card may have begun`() {
        var rig = Rig.phone(.standard)
        rig.verdict = { _ in .refusal(400, "BadMessageId", .push) }
        rig.start()
        rig.advance(to: 10)
        rig.verdict = { _ in .accepted }
        let before = rig.pushes.count
        #expect(rig.crash(recoverAt: 20, restored: true).isEmpty)
        rig.retry(until: 60)
        #expect(rig.pushes.count == before)
        #expect(
            rig.core.deadLetters(DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 9)
                .letters.isEmpty)
    }

    /// Seed 3306 of the simulation: the clock's reading in the backup was hours old.
    @Test func `after a restore timestamps go on from now, whatever the backup says`() throws {
        var rig = Rig.running(.lab)
        rig.update(lap: 1)
        var backup = rig.recovery()
        rig.advance(to: 3_600)
        rig.update(lap: 2)
        let last = try #require(rig.pushes.last?.push)
        backup.restoredAt = rig.now
        let before = rig.pushes.count
        rig.recover(backup)
        rig.step(.tick)
        rig.advance(to: 3_700)
        #expect(rig.pushes.count > before)
        for (_, push) in rig.pushes.dropFirst(before) {
            let timestamp = Rig.aps(push)?["timestamp"]?.integer ?? 0
            #expect(timestamp > Rig.aps(last)?["timestamp"]?.integer ?? 0)
        }
    }

    /// Seed 4314: the relay that the restored log knows nothing of had begun after another boot,
    /// and was ahead of its clock.
    @Test func `after a restore timestamps go on beyond what a boot's reach allowed`() throws {
        var rig = Rig.running(.lab)
        let backup = rig.recovery()
        rig.advance(to: 100)
        var booted = rig.recovery()
        booted.before = .init(reading: rig.now, toldThrough: rig.now + RelayClock.reach)
        rig.recover(booted)
        rig.command(.end, "{}")
        let ahead = try #require(rig.pushes.last?.push)
        #expect(ahead.event == .end)
        rig.advance(to: 110)
        var restored = backup
        restored.restoredAt = rig.now
        rig.recover(restored)
        rig.command(.end, "{}")
        rig.advance(to: 200)
        let next = try #require(rig.pushes.last?.push)
        let before = Rig.aps(ahead)?["timestamp"]?.integer ?? 0
        #expect(Rig.aps(next)?["timestamp"]?.integer ?? 0 > before)
    }

    /// Found by the simulation: a backup between an event and its destinations' first checkpoints
    /// led to a second card.
    @Test
    func `after a restore a start is not sent again though its destination has no checkpoint`() {
        var rig = Rig.phone(.standard)
        rig.commitsByItself = false
        rig.start()
        rig.commit()
        rig.commitsByItself = true
        #expect(rig.crash(recoverAt: 20, restored: true).isEmpty)
        rig.advance(to: 40)
        rig.update(lap: 1)
        #expect(rig.crash(recoverAt: 50).isEmpty)
        rig.advance(to: 400)
        #expect(rig.pushes.isEmpty)
    }
}
