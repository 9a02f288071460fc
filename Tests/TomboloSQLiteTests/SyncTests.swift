import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// A writer on a disk in memory.
private func writer(
    on disk: SimulatedDisk, _ retention: LogRetention = .forever
) throws -> LogWriter {
    var chance = SplitMix64(seed: 1)
    disk.create("tombolo.db")
    let writer = try LogWriter(
        path: "tombolo.db", vfs: disk.vfsName, checkpointPages: 12, retention: retention,
        chance: &chance)
    _ = try writer.recover(idempotencySince: .distantPast)
    return writer
}

@Test func `all batches of a group are durable by one sync`() throws {
    let disk = SimulatedDisk(seed: 1)
    let writer = try writer(on: disk)
    _ = writer.store([Sample.batch(Sample.event(99, after: 0))])
    let before = disk.syncs
    let answers = writer.store(
        (Int64(1)...20).map { Sample.batch(Sample.event($0, after: 0)) })
    #expect(disk.syncs == before + 1)
    #expect(try answers.map { try $0.get().firstSeq } == Array(2...21))
}

@Test func `nothing to store costs no sync`() throws {
    let disk = SimulatedDisk(seed: 1)
    let writer = try writer(on: disk)
    let before = disk.operations
    _ = writer.store([AppendBatch(), Sample.batch(Sample.event(1, after: 5))])
    #expect(disk.operations == before)
}

@Test func `a file whose history is cut stops growing`() throws {
    let disk = SimulatedDisk(seed: 1)
    let log = try writer(on: disk, LogRetention(history: .hours(72), facts: .hours(24)))
    func live(hours: Range<Int64>) throws -> Int {
        for hour in hours {
            let now = Sample.noon + .hours(hour)
            var batch = Sample.batch(Sample.event(1, after: hour, at: now, key: "\(hour)"))
            var fact = Sample.fact("push.accepted", activity: 1)
            fact.recordedAt = now
            batch.facts = [fact]
            _ = try log.store([batch])[0].get()
            log.cutIfDue()
            log.checkpointIfDue()
        }
        return try #require(disk.size("tombolo.db"))
    }
    let early = try live(hours: 0..<200)
    let late = try live(hours: 200..<600)
    #expect(late < early * 2, "\(early) bytes, then \(late)")
}
