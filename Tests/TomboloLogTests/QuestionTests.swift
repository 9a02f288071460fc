import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// How often pages ask the engine: on a server each question is a round trip.
struct QuestionTests {
    /// A log of so many facts of which only those of one activity are there, one in each chapter:
    /// an index passes over the others anyway.
    private static func facts(_ count: Int64, in tables: MemoryTables) throws -> [Int64] {
        _ = try writer(tables, isNew: true).store([Sample.batch(Sample.event(1, after: 0))])
        let engine = tables.writer()
        var buffer = RowBuffer()
        var seqs: [Int64] = []
        for chapter in 0...FactIndex.chapter(of: count) {
            let seq = min(FactIndex.first(of: chapter) + 77, count)
            let fact = Sample.fact("push.accepted", activity: 7)
            try engine.put(
                .fact, seq,
                FactRow.encode(fact, seq, tenantSeq: seq, tenant: 1, into: &buffer))
            seqs.append(seq)
            guard FactIndex.last(of: chapter) <= count else { continue }
            var built = FactChapter()
            built.add(seq, fact, tenant: 1)
            try built.store(chapter, into: &buffer, engine)
        }
        try engine.commit()
        return seqs
    }

    private static func writer(_ tables: MemoryTables, isNew: Bool = false) throws -> LogWriter {
        var chance = SplitMix64(seed: 1)
        let writer = try LogWriter(tables.writer(), isNew: isNew, chance: &chance)
        _ = try writer.recover(idempotencySince: .distantPast)
        return writer
    }

    /// What a reader beside a writer asks for an answer, after it was asked once: it knows the
    /// tenants then.
    private static func questions(
        _ tables: MemoryTables, _ ask: (LogReader) throws -> Void
    ) throws -> [String] {
        let (writer, engine) = (try writer(tables), CountingEngine(tables.reader()))
        let reader = try LogReader(engine, window: writer.window, damage: DamageList())
        try ask(reader)
        _ = engine.takeQuestions()
        try ask(reader)
        return engine.takeQuestions()
    }

    @Test(arguments: [(Int64(1_000_000), 3), (10_000_000, 14)], [true, false])
    func `a page of an activity's facts asks few questions`(
        _ size: (facts: Int64, questions: Int), _ isRising: Bool
    ) throws {
        let tables = MemoryTables()
        let seqs = try Self.facts(size.facts, in: tables)
        var query = FactQuery(tenant: Sample.lab)
        query.activity = ActivityNumber(7)
        query.order = isRising ? .oldestFirst : .newestFirst
        query.limit = 1_000
        let asked = try Self.questions(tables) { reader in
            let found = try reader.facts(query).facts.map(\.seq)
            #expect(found == (isRising ? seqs : seqs.reversed()))
        }
        #expect(asked.count <= size.questions, "\(asked.count): \(asked)")
        // A page that goes on, and one that is full at once.
        (query.after, query.before, query.limit) = (size.facts / 3, size.facts / 2, 10)
        let next = try Self.questions(tables) { reader in
            let page = try reader.facts(query)
            #expect(page.facts.count == 10)
        }
        #expect(next.count <= 3, "\(next)")
    }

    /// An activity of 3,000 events among others.
    private static func events(in tables: MemoryTables) throws {
        let writer = try writer(tables, isNew: true)
        var sample = SampleActivities()
        for number in 0..<3_000 {
            let at = Sample.noon + .seconds(Int64(number))
            let other = sample.next(Int64(number % 7), "{\"n\":\(number)}", at: at)
            let own = sample.next(100, "{\"n\":\(number)}", at: at)
            _ = try writer.store([sample.batch([other, own])])[0].get()
        }
        writer.writeLaterHeads()
    }

    @Test func `a page of an activity asks four questions, wherever it begins`() throws {
        let tables = MemoryTables()
        try Self.events(in: tables)
        for (after, limit) in [(Int64(0), 100), (2_500, 100), (3_000, 300), (5_900, 100), (77, 1)] {
            var query = EventQuery(tenant: Sample.lab)
            (query.activity, query.newest) = (ActivityNumber(100), 6_000)
            (query.after, query.limit) = (after, limit)
            let asked = try Self.questions(tables) { reader in
                let found = try reader.events(query).events.map(\.tenantSeq)
                let first = after / 2 * 2 + 2
                let right = stride(from: first, through: 6_000, by: 2).prefix(limit)
                #expect(found == Array(right))
            }
            #expect(asked.count <= 4, "\(asked)")
        }
    }

    @Test func `a page of the log asks three questions`() throws {
        let tables = MemoryTables()
        let writer = try Self.writer(tables, isNew: true)
        for number in 0..<40 {
            var sample = SampleActivities()
            let events = (0..<1_000).map {
                sample.next(
                    Int64(number), "{\"n\":\($0)}", at: Sample.noon + .seconds(Int64(number)))
            }
            _ = try writer.store([sample.batch(events)])[0].get()
        }
        var query = EventQuery(tenant: Sample.lab)
        for (after, kind) in [(Int64(0), nil), (17_000, nil), (0, EventKind.start)] {
            (query.after, query.kind) = (after, kind)
            query.limit = 30
            let asked = try Self.questions(tables) { reader in
                let page = try reader.events(query)
                #expect(page.events.count == 30)
            }
            #expect(asked.count <= 3, "\(asked)")
        }
    }

    @Test func `all names of retired activities are looked for together`() throws {
        let tables = MemoryTables()
        let writer = try Self.writer(tables, isNew: true)
        var sample = SampleActivities()
        let numbers = Int64(1)...40
        for number in numbers {
            let day = Sample.noon + .hours(24 * (number % 10))
            let start = sample.next(number, "{\"n\":1}", at: day)
            var batch = sample.batch([start])
            batch.retired = [
                RetiredActivity(
                    activity: ActivityNumber(number), name: SampleActivities.name(number),
                    endedAt: day)
            ]
            _ = try writer.store([batch])[0].get()
        }
        let keys = numbers.map {
            ActivityKey(tenant: Sample.lab, id: SampleActivities.name($0))
        }
        let asked = try Self.questions(tables) { reader in
            let found = try reader.retired(named: keys).map(\.activity.rawValue)
            #expect(found == Array(numbers))
        }
        #expect(asked.count <= 2, "\(asked)")
    }

    @Test func `a tail that keeps up asks nothing`() async throws {
        let counted = try CountedLog()
        let log = counted.log
        _ = try await log.recover(idempotencySince: .distantPast)
        // The first question makes the log keep what comes.
        _ = try await log.facts(FactQuery(tenant: Sample.lab))
        _ = counted.takeQuestions()
        var sample = SampleActivities()
        var (events, facts) = (EventQuery(tenant: Sample.lab), FactQuery(tenant: Sample.lab))
        events.place = 0
        for number in Int64(1)...20 {
            let event = sample.next(1, "{\"n\":\(number)}", at: Sample.noon)
            var batch = sample.batch([event])
            batch.facts = [Sample.fact("push.accepted", activity: 1)]
            _ = try await log.append(batch)
            (events.through, facts.before) = (number, number + 1)
            #expect(try await log.events(events).events.map(\.seq) == [number])
            #expect(try await log.facts(facts).facts.map(\.seq) == [number])
            (events.after, events.place, facts.after) = (number, number, number)
        }
        #expect(counted.takeQuestions() == [])
        await log.close()
    }
}
