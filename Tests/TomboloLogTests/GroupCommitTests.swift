import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog

@Test(arguments: Engine.allCases)
func `a refused batch leaves the others of its group as they are`(kind: Engine) throws {
    let place = LogPlace(kind)
    let writer = try place.writer()
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

@Test(arguments: Engine.allCases)
func `a tenant that came with a rolled-back transaction comes again`(kind: Engine) throws {
    let place = LogPlace(kind)
    let writer = try place.writer()
    _ = try writer.store([Sample.batch(Sample.event(1, after: 0))])[0].get()
    place.setFull(true)
    let batch = Sample.batch(Sample.event(2, after: 0, tenant: Sample.field, key: "k"))
    #expect(throws: EventLogError.self) { try writer.store([batch])[0].get() }
    place.setFull(false)
    #expect(try writer.store([batch])[0].get().firstSeq == 2)
    let reader = try place.reader()
    #expect(try reader.event(seq: 2, tenant: Sample.field)?.event == batch.events[0])
}

@Test func `power that goes in a commit leaves all or nothing of it, and the log stops`() throws {
    let batch = Sample.batch(Sample.event(1, after: 0), Sample.event(2, after: 0))
    var chance = SplitMix64(seed: 1)
    var kept: [Int64] = []
    for operations in 0..<100 {
        let tables = MemoryTables()
        let writer = try LogWriter(tables.writer(), isNew: true, chance: &chance)
        tables.planPowerLoss(after: operations)
        let answer = writer.store([batch])[0]
        if case .success = answer { break }
        #expect(answer == .failure(.outcomeUnknown(cause: "the power is gone")))
        #expect(writer.store([batch])[0] == answer)
        #expect(tables.calm())
        tables.restorePower()
        let next = try LogWriter(tables.writer(), isNew: false, chance: &chance)
        kept.append(try next.recover(idempotencySince: .distantPast).lastSeq)
    }
    // Only the last operation is the commit: it is durable, and nobody knows.
    #expect(kept.count > 3 && kept.last == 2)
    #expect(kept.dropLast().allSatisfy { $0 == 0 })
}

@Test func `a copy of tables has what was committed, and goes its own way`() throws {
    let tables = MemoryTables()
    var chance = SplitMix64(seed: 1)
    let writer = try LogWriter(tables.writer(), isNew: true, chance: &chance)
    _ = try writer.store([Sample.batch(Sample.event(1, after: 0))])[0].get()
    let copy = tables.copy()
    _ = try writer.store([Sample.batch(Sample.event(1, after: 1))])[0].get()
    let other = try LogWriter(copy.writer(), isNew: false, chance: &chance)
    #expect(try other.recover(idempotencySince: .distantPast).lastSeq == 1)
    _ = try other.store([Sample.batch(Sample.event(2, after: 0))])[0].get()
    let reader = try LogReader(tables.reader(), damage: DamageList())
    #expect(try reader.event(seq: 2, tenant: Sample.lab)?.event.activity == ActivityNumber(1))
}
