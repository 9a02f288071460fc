import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// A writer on a disk in memory.
private func writer(on disk: SimulatedDisk) throws -> LogWriter {
    var chance = SplitMix64(seed: 1)
    disk.create("tombolo.db")
    let writer = try LogWriter(path: "tombolo.db", vfs: disk.vfsName, chance: &chance)
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
