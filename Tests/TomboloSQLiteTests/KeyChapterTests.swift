import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

/// A log on a simulated disk whose every event has a key.
private final class Keyed {
    static let path = "tombolo.db"
    static let chapter = Int(LogChapter.size)

    let disk = SimulatedDisk(seed: 1)
    private(set) var writer: LogWriter
    private var activities = SampleActivities()
    private(set) var count: Int64 = 0

    init() throws {
        disk.create(Self.path)
        var chance = SplitMix64(seed: 1)
        writer = try LogWriter(path: Self.path, vfs: disk.vfsName, chance: &chance)
    }

    /// Adds so many events at `at`.
    func add(_ events: Int, at: Instant = Sample.noon, lead: Span = .zero) throws {
        for start in stride(from: 0, to: events, by: 1_000) {
            let new = (start..<min(start + 1_000, events)).map { _ in
                count += 1
                return activities.next(count % 3 + 1, "{}", at: at + lead, key: "key-\(count)")
            }
            var batch = activities.batch(new)
            batch.lead = lead
            _ = try writer.store([batch])[0].get()
        }
    }

    func reopen() throws {
        var chance = SplitMix64(seed: 1)
        writer = try LogWriter(path: Self.path, vfs: disk.vfsName, chance: &chance)
    }

    func recover(since: Instant = .distantPast) throws -> RecoveredLog {
        try reopen()
        return try writer.recover(idempotencySince: since)
    }

    func verify() throws -> [String] {
        try LogVerification(path: Self.path, vfs: disk.vfsName).run { _ in }.wrong
    }

    func rows() throws -> Int64 {
        let connection = try Connection(path: Self.path, access: .reading, vfs: disk.vfsName)
        return try connection.integer("SELECT count(*) FROM keys")
    }

    /// How long after noon a key counts, in hours; nil where it does not count at all.
    func hours(_ seq: Int64, _ log: RecoveredLog) -> Int64? {
        (Int64(0)..<100).last {
            log.idempotency.seq(
                of: "key-\(seq)", tenant: Sample.lab, at: Sample.noon + .hours($0)) == seq
        }
    }
}

@Suite struct KeyChapterTests {
    @Test func `keys come back from the rows of full chapters and the events of the newest`() throws
    {
        let log = try Keyed()
        try log.add(Keyed.chapter + 100)
        try log.add(Keyed.chapter, at: Sample.noon + .hours(3))
        #expect(try log.rows() == 2)
        let recovered = try log.recover()
        #expect(recovered.damage == [])
        #expect(recovered.idempotency.table.seqs == Array(1...log.count))
        #expect(log.hours(1, recovered) == 24)
        #expect(log.hours(Int64(Keyed.chapter) + 100, recovered) == 24)
        #expect(log.hours(Int64(Keyed.chapter) + 101, recovered) == 27)
        #expect(log.hours(log.count, recovered) == 27)
        let late = try log.recover(since: Sample.noon + .hours(3))
        #expect(late.idempotency.table.seqs.first == Int64(Keyed.chapter) + 101)
        #expect(try log.verify() == [])
    }

    @Test(arguments: [
        ("DELETE FROM keys WHERE key = 1", "missing"),
        ("UPDATE keys SET row = zeroblob(40) WHERE key = 1", "damaged"),
        ("UPDATE keys SET row = (SELECT row FROM keys WHERE key = 16385) WHERE key = 1", "damaged"),
    ])
    func `a row that is damaged or missing is made anew from its events`(
        sql: String, why: String
    ) throws {
        let log = try Keyed()
        try log.add(Keyed.chapter - 5)
        try log.add(Keyed.chapter + 10, at: Sample.noon + .hours(1))
        log.disk.execute(sql, in: Keyed.path)
        let line = "the idempotency keys of events 1 to 16384: their row is \(why)"
        #expect(try log.verify() == [line])
        let recovered = try log.recover()
        #expect(recovered.damage == [line])
        #expect(recovered.idempotency.table.seqs == Array(1...log.count))
        #expect(log.hours(16_379, recovered) == 24)
        #expect(log.hours(16_380, recovered) == 25)
        let again = try log.recover()
        #expect(again.damage == [])
        #expect(again.idempotency.table.seqs == Array(1...log.count))
        #expect(try log.verify() == [])
    }

    @Test func `a chapter made anew makes its neighbours no worse`() throws {
        let log = try Keyed()
        // In the last minute of an hour.
        for _ in 0..<3 {
            try log.add(Keyed.chapter, at: Sample.noon + .minutes(59) + .seconds(30))
        }
        log.disk.execute("DELETE FROM keys WHERE key < 20000", in: Keyed.path)
        let line = "the idempotency keys of events 1 to 32768: their row is missing"
        let recovered = try log.recover()
        #expect(recovered.damage == [line])
        #expect(recovered.idempotency.table.seqs == Array(1...log.count))
        #expect(try log.verify() == [])
    }

    @Test(arguments: [Int64(1) << 30, 1_000_000_000_000, LogTable.numberMax])
    func `an event far beyond the others costs no walk to it`(far: Int64) throws {
        let log = try Keyed()
        try log.add(100)
        log.disk.execute(
            "INSERT INTO event SELECT \(far), row FROM event WHERE key = 3", in: Keyed.path)
        let recovered = try log.recover()
        #expect(recovered.idempotency.table.seqs == Array(1...100))
        #expect(try log.verify().contains { $0.contains("row \(far)") })
    }

    @Test func `the key of an erased event is taken after a restart too`() throws {
        let log = try Keyed()
        try log.add(9)
        let erasure = LogErasure(.activity(ActivityNumber(2)), of: Sample.lab)
        #expect(try log.writer.erase(erasure).events == 3)
        #expect(try log.recover().idempotency.table.seqs == Array(1...9))
        #expect(try log.verify() == [])
    }

    @Test func `keys go a day later where no new ones come`() throws {
        let log = try Keyed()
        try log.add(Keyed.chapter)
        var others = SampleActivities()
        let event = others.next(77, "{}", at: Sample.noon + .hours(30))
        _ = try log.writer.store([others.batch([event])])[0].get()
        while log.writer.cutIfDue().goesOn {}
        #expect(try log.rows() == 0)
        #expect(try log.recover().damage == [])
        #expect(try log.verify() == [])
    }

    @Test func `a key made again from its event counts from the later hour on`() throws {
        let log = try Keyed()
        // The lead is known to a minute.
        try log.add(1, at: Sample.noon + .minutes(58), lead: .seconds(500))
        try log.add(1, at: Sample.noon + .minutes(59) + .seconds(30), lead: .seconds(530))
        try log.add(1, at: Sample.noon + .hours(2), lead: .hours(9))
        let recovered = try log.recover()
        #expect((1...3).map { log.hours($0, recovered) } == [24, 25, 26])
    }

    @Test func `a chapter's row goes when all of its keys are too old, and its keys with it`()
        throws
    {
        let log = try Keyed()
        for day in Int64(0)..<4 { try log.add(Keyed.chapter, at: Sample.noon + .hours(day * 20)) }
        #expect(try log.rows() == 4)
        // The newest key is of hour 60; those of hour 35 and later count.
        while log.writer.cutIfDue().goesOn {}
        #expect(try log.rows() == 2)
        let recovered = try log.recover()
        #expect(recovered.damage == [])
        #expect(recovered.idempotency.table.seqs == Array((2 * 16_384 + 1)...log.count))
        #expect(try log.verify() == [])
    }

    @Test func `keys of a transaction that was rolled back are gone`() throws {
        let log = try Keyed()
        try log.add(Keyed.chapter - 10)
        let before = log.count
        log.disk.bytesMax = log.disk.bytesUsed
        #expect(throws: EventLogError.self) { try log.add(20, at: Sample.noon + .hours(5)) }
        log.disk.bytesMax = nil
        var others = SampleActivities()
        let event = others.next(77, "{}", at: Sample.noon, key: "key-new")
        _ = try log.writer.store([others.batch([event])])[0].get()
        let recovered = try log.recover()
        #expect(recovered.idempotency.table.seqs == Array(1...before + 1))
        #expect(log.hours(before, recovered) == 24)
        #expect(try log.verify() == [])
    }

    @Test func `a row with a right checksum and any numbers traps nobody`() throws {
        var chapter = KeyChapter()
        for seq in Int64(1)...200 where seq % 3 != 0 {
            chapter.add(UInt64(seq), seq: seq, hour: seq / 50)
        }
        var buffer = RowBuffer()
        let row = Array(chapter.encode(1, into: &buffer))
        let numbers: [Int64] = [.min, -1, 0, 1, 7, 16_384, 16_385, 1 << 53, .max]
        for place in stride(from: RowChecksum.bytes, to: min(row.count, 400), by: 8) {
            for number in numbers {
                var changed = row
                changed.withUnsafeMutableBytes { bytes in
                    bytes.storeBytes(of: number, toByteOffset: place, as: Int64.self)
                    RowChecksum.seal(.keys, 1, bytes)
                }
                changed.withUnsafeBytes { bytes in
                    let found = KeyChapter(1, bytes.bytes)
                    found?.forEachHour(of: 1, since: .min) { hashes, seqs, _ in
                        #expect(hashes.count == seqs.count)
                        #expect(seqs.allSatisfy((1...LogChapter.size).contains))
                    }
                }
            }
        }
        for count in row.indices {
            row.withUnsafeBytes { bytes in
                #expect(
                    KeyChapter(1, UnsafeRawBufferPointer(rebasing: bytes[..<count]).bytes) == nil)
            }
        }
    }
}
