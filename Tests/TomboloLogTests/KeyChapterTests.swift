import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// A log whose every event has a key.
private final class Keyed {
    static let chapter = Int(LogChapter.size)

    let place: LogPlace
    private(set) var writer: LogWriter
    private var activities = SampleActivities()
    private(set) var count: Int64 = 0

    init(_ kind: Engine) throws {
        place = LogPlace(kind)
        writer = try place.writer()
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

    func recover(since: Instant = .distantPast) throws -> RecoveredLog {
        writer = try place.writer()
        return try writer.recover(idempotencySince: since)
    }

    func verify() throws -> [String] { try place.verify().wrong }

    func rows() throws -> Int { try place.reading().keys(.keys).count }

    /// How long after noon a key counts, in hours; nil where it does not count at all.
    func hours(_ seq: Int64, _ log: RecoveredLog) -> Int64? {
        (Int64(0)..<100).last {
            log.idempotency.seq(
                of: "key-\(seq)", tenant: Sample.lab, at: Sample.noon + .hours($0)) == seq
        }
    }
}

@Suite struct KeyChapterTests {
    @Test(arguments: Engine.two)
    func `keys come back from the rows of full chapters and the events of the newest`(
        kind: Engine
    ) throws {
        let log = try Keyed(kind)
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

    @Test(arguments: Engine.two, ["missing", "damaged", "of another"])
    func `a row that is damaged or missing is made again from its events`(
        kind: Engine, what: String
    ) throws {
        let log = try Keyed(kind)
        try log.add(Keyed.chapter - 5)
        try log.add(Keyed.chapter + 10, at: Sample.noon + .hours(1))
        try log.place.edit { engine in
            switch what {
            case "missing": try engine.delete(.keys, 1)
            case "damaged": try engine.blank(.keys, 1, bytes: 40)
            default: try engine.put(.keys, 1, try #require(try engine.bytes(.keys, 16_385)))
            }
        }
        let why = what == "missing" ? what : "damaged"
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

    @Test(arguments: Engine.two)
    func `a chapter made again makes its neighbours no worse`(kind: Engine) throws {
        let log = try Keyed(kind)
        // In the last minute of an hour.
        for _ in 0..<3 {
            try log.add(Keyed.chapter, at: Sample.noon + .minutes(59) + .seconds(30))
        }
        try log.place.edit { try $0.delete(.keys, 1...20_000, isPersonal: true) }
        let line = "the idempotency keys of events 1 to 32768: their row is missing"
        let recovered = try log.recover()
        #expect(recovered.damage == [line])
        #expect(recovered.idempotency.table.seqs == Array(1...log.count))
        #expect(try log.verify() == [])
    }

    @Test(arguments: Engine.allCases, [Int64(1) << 30, 1_000_000_000_000, LogTable.numberMax])
    func `an event far beyond the others costs no walk to it`(kind: Engine, far: Int64) throws {
        let log = try Keyed(kind)
        try log.add(100)
        try log.place.edit { try $0.put(.event, far, try #require(try $0.bytes(.event, 3))) }
        let recovered = try log.recover()
        #expect(recovered.idempotency.table.seqs == Array(1...100))
        #expect(try log.verify().contains { $0.contains("row \(far)") })
    }

    @Test(arguments: Engine.allCases)
    func `the key of an erased event is taken after a restart too`(kind: Engine) throws {
        let log = try Keyed(kind)
        try log.add(9)
        let erasure = LogErasure(.activity(ActivityNumber(2)), of: Sample.lab)
        #expect(try log.writer.erase(erasure).events == 3)
        #expect(try log.recover().idempotency.table.seqs == Array(1...9))
        #expect(try log.verify() == [])
    }

    @Test(arguments: Engine.allCases)
    func `keys go a day later where no new ones come`(kind: Engine) throws {
        let log = try Keyed(kind)
        try log.add(Keyed.chapter)
        var others = SampleActivities()
        let event = others.next(77, "{}", at: Sample.noon + .hours(30))
        _ = try log.writer.store([others.batch([event])])[0].get()
        while log.writer.cutIfDue().goesOn {}
        #expect(try log.rows() == 0)
        #expect(try log.recover().damage == [])
        #expect(try log.verify() == [])
    }

    @Test(arguments: Engine.allCases)
    func `a key made again from its event counts from the later hour on`(kind: Engine) throws {
        let log = try Keyed(kind)
        // The lead is known to a minute.
        try log.add(1, at: Sample.noon + .minutes(58), lead: .seconds(500))
        try log.add(1, at: Sample.noon + .minutes(59) + .seconds(30), lead: .seconds(530))
        try log.add(1, at: Sample.noon + .hours(2), lead: .hours(9))
        let recovered = try log.recover()
        #expect((1...3).map { log.hours($0, recovered) } == [24, 25, 26])
    }

    @Test(arguments: Engine.two)
    func `a chapter's row goes when all of its keys are too old, and its keys with it`(
        kind: Engine
    ) throws {
        let log = try Keyed(kind)
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

    @Test(arguments: Engine.allCases)
    func `keys of a transaction that was rolled back are gone`(kind: Engine) throws {
        let log = try Keyed(kind)
        try log.add(Keyed.chapter - 10)
        let before = log.count
        log.place.setFull(true)
        #expect(throws: EventLogError.self) { try log.add(20, at: Sample.noon + .hours(5)) }
        log.place.setFull(false)
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
