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

@Test func `a refused batch leaves the others of its group as they are`() throws {
    let disk = SimulatedDisk(seed: 1)
    let writer = try writer(on: disk)
    let answers = writer.store([
        Sample.batch(Sample.event(1, after: 0, key: "a")),
        Sample.batch(Sample.event(2, after: 0, key: "b"), Sample.event(1, after: 0)),
        Sample.batch(Sample.event(2, after: 0, key: "b"), Sample.event(1, after: 1)),
        Sample.batch(Sample.event(3, after: 0, key: "a")),
    ])
    #expect(try answers[0].get().firstSeq == 1)
    #expect(
        answers[1]
            == .failure(.versionConflict(activity: ActivityNumber(1), expected: 0, actual: 1)))
    #expect(try answers[2].get().firstSeq == 2)
    let key = IdempotencyKey(key: "a", bodyDigest: 0xfeed_face_dead_beef)
    #expect(answers[3] == .failure(.duplicateKey(key, seq: 1)))
    #expect(try writer.recover(idempotencySince: .distantPast).heads.map(\.version) == [2, 1])
}

@Test func `a tenant that came with a rolled-back transaction comes again`() throws {
    let disk = SimulatedDisk(seed: 1)
    let writer = try writer(on: disk)
    _ = try writer.store([Sample.batch(Sample.event(1, after: 0))])[0].get()
    disk.bytesMax = 0
    let batch = Sample.batch(Sample.event(2, after: 0, tenant: Sample.field, key: "k"))
    #expect(throws: EventLogError.self) { try writer.store([batch])[0].get() }
    disk.bytesMax = nil
    #expect(try writer.store([batch])[0].get().firstSeq == 2)
    let reader = try LogReader(path: "tombolo.db", vfs: disk.vfsName, damage: DamageList())
    #expect(try reader.event(seq: 2, tenant: Sample.field)?.event == batch.events[0])
}
