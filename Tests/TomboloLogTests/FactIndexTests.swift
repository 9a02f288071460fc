import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// Facts that fill two chapters and begin a third; an in-memory log with the same facts says what
/// is right.
private final class Facts {
    static let count: Int64 = 36_000
    static let kinds = ["push.accepted", "push.refused", "token.registered", "presence.changed"]

    let place: LogPlace
    let memory = InMemoryEventLog()
    var writer: LogWriter
    var chance = SplitMix64(seed: 3)
    private var last: Int64 = 0

    init(_ kind: Engine, _ count: Int64 = Facts.count) async throws {
        place = LogPlace(kind)
        writer = try place.writer()
        try await add(count)
    }

    func add(_ count: Int64) async throws {
        let end = last + count
        while last < end {
            var batch = AppendBatch()
            while last < end, batch.facts.count < 700 { batch.facts.append(next()) }
            _ = try writer.store([batch])[0].get()
            _ = try await memory.append(batch)
            writer.checkpointIfDue()
        }
    }

    /// One in a hundred is of `field`; phone-rare has three of the first hundred, kind `rare` one
    /// in a thousand; some are of no activity, some about no device.
    private func next() -> NewFact {
        last += 1
        let tenant = last % 100 == 0 ? Sample.field : Sample.lab
        let activity = chance.next(below: 9) == 0 ? nil : Int64(chance.next(below: 60))
        var device = "phone-\(chance.next(below: 40))"
        if [7, 8, 77].contains(last) { device = "phone-rare" }
        let body =
            chance.next(below: 9) == 0
            ? "{\"n\":\(last)}" : "{\"device\":\"\(device)\",\"n\":\(last)}"
        let kind =
            last % 1_000 == 1 ? "rare" : Self.kinds[Int(chance.next(below: 4))]
        return NewFact(
            tenant: tenant, activity: activity.map(ActivityNumber.init), kind: kind,
            recordedAt: Sample.noon + .seconds(last), body: Array(body.utf8))
    }

    /// The process is gone as by a crash; the next one goes on, with that retention.
    func reopen(_ retention: LogRetention = .forever) throws {
        writer.leaveWALOnClose()
        writer = try place.writer(retention)
        _ = try writer.recover(idempotencySince: .distantPast)
    }

    func verify() throws -> [String] { try place.verify().wrong }

    /// What all facts take, as a log counts it.
    func bytes() throws -> Int {
        var sum = 0
        try place.reading().forEachRow { if $0 == .fact { sum += $2.count + 24 } }
        return sum
    }

    func query(_ round: Int) -> FactQuery {
        func pick(_ count: UInt64) -> Int64 { Int64(chance.next(below: count)) }
        var query = FactQuery(tenant: round % 9 == 0 ? Sample.field : Sample.lab)
        let own: UInt64 = query.tenant == Sample.field ? 370 : 37_000
        query.order = pick(2) == 0 ? .newestFirst : .oldestFirst
        if pick(3) == 0 { query.after = pick(own) }
        if pick(3) == 0 { query.before = pick(own) }
        query.limit = 30 + Int(pick(900))
        if pick(2) == 0 { query.activity = ActivityNumber(pick(62)) }
        if pick(2) == 0 {
            let name = pick(9) == 0 ? "phone-rare" : "phone-\(pick(41))"
            query.recipient = Identifier(name).map(Recipient.device)
        }
        if pick(3) == 0 {
            query.kinds = [["rare"], ["rare", "push.accepted"], ["none"]][Int(pick(3))]
        }
        if pick(3) == 0 { query.from = Sample.noon + .seconds(pick(36_000)) }
        if pick(3) == 0 { query.until = Sample.noon + .seconds(pick(36_000)) }
        if pick(4) == 0 { query.scanMax = 3_000 }
        return query
    }

    /// Whether random questions are answered as from a list, without the facts up to `cut`.
    func compare(rounds: Int, cut: Int64 = 0, _ reader: LogReader) async throws {
        for round in 0..<rounds {
            let query = query(round)
            var expected: [Int64] = []
            var all = query
            (all.limit, all.bytesMax, all.scanMax) = (.max, .max, .max)
            expected = try await memory.facts(all).facts.map(\.seq).filter { $0 > cut }
            #expect(try seqs(query, reader) == expected, "\(query)")
        }
    }

    private func seqs(_ query: FactQuery, _ reader: LogReader) throws -> [Int64] {
        var (query, seqs): (FactQuery, [Int64]) = (query, [])
        while true {
            let page = try reader.facts(query)
            #expect(page.facts.count <= query.limit)
            seqs += page.facts.map(\.seq)
            guard let next = page.next else { return seqs }
            let before = (query.after, query.before ?? .max)
            query.goOn(at: next)
            try #require(
                query.after > before.0 || query.before ?? .max < before.1,
                "a page always leads on")
        }
    }
}

@Suite struct FactIndexTests {
    @Test(arguments: Engine.two)
    func `whatever is asked for, the same facts come as from a list`(kind: Engine) async throws {
        let log = try await Facts(kind)
        try await log.compare(rounds: 90, log.place.reader())
        #expect(try log.verify() == [])
    }

    @Test(arguments: Engine.allCases)
    func `what the index does not know is passed over`(kind: Engine) async throws {
        let log = try await Facts(kind)
        let reader = try log.place.reader()
        var query = FactQuery(tenant: Sample.lab)
        (query.order, query.scanMax) = (.newestFirst, 3_900)
        query.recipient = Identifier("phone-rare").map(Recipient.device)
        let page = try reader.facts(query)
        #expect(page.facts.allSatisfy { [7, 8, 77].contains($0.seq) })
        #expect(page.facts.count > 0)
        #expect(page.next == nil, "of 32,768 facts only those of the phone were looked at")
        query.recipient = nil
        query.kinds = ["never"]
        #expect(try reader.facts(query).next == nil, "no block has the kind")
        query.kinds = nil
        (query.from, query.until) = (Sample.noon + .seconds(9_000), Sample.noon + .seconds(9_050))
        let past = try reader.facts(query)
        #expect(past.facts.count > 40)
        #expect(past.next == nil, "no other block has the time")
    }

    @Test(arguments: Engine.allCases)
    func `a chapter goes on where a crash or a full disk cut it short`(kind: Engine) async throws {
        let log = try await Facts(kind, 9_000)
        try log.reopen()
        try await log.add(5_000)
        log.place.setFull(true)
        var batch = AppendBatch()
        batch.facts = (0..<4_000).map { _ in Sample.fact("push.lost") }
        #expect(throws: EventLogError.self) { try log.writer.store([batch])[0].get() }
        log.place.setFull(false)
        try await log.add(20_000)
        #expect(try log.verify() == [])
        try await log.compare(rounds: 20, log.place.reader())
    }

    @Test(arguments: Engine.allCases, [LogTable.factBlock, .factBucket])
    func `where the index is damaged the facts themselves are read`(
        kind: Engine, table: LogTable
    ) async throws {
        let log = try await Facts(kind)
        // Some rows are damaged first, then all are missing.
        try log.place.edit { engine in
            for key in try engine.keys(table) where key % 3 != 0 {
                try engine.blank(table, key, bytes: 10)
            }
        }
        try await compareWithoutIndex(log)
        try log.place.edit { try $0.delete(table, .min ... .max, isPersonal: true) }
        try await compareWithoutIndex(log)
    }

    private func compareWithoutIndex(_ log: Facts) async throws {
        let list = DamageList()
        try await log.compare(rounds: 15, log.place.reader(list))
        #expect(list.all.contains { $0.hasPrefix("the index of facts 1 to 16384: ") })
        #expect(try log.verify().contains { $0.hasSuffix("a row is damaged") })
    }

    @Test(arguments: Engine.allCases, [Int64(1) << 52, .max])
    func `a fact far beyond the others costs nobody a walk to it`(
        kind: Engine, far: Int64
    ) async throws {
        let log = try await Facts(kind, 34_000)
        try log.place.edit { engine in
            try engine.put(.fact, far, try #require(try engine.bytes(.fact, 34_000)))
            try engine.delete(.fact, 34_000)
        }
        for order in [FactQuery.Order.oldestFirst, .newestFirst] {
            var query = FactQuery(tenant: Sample.lab)
            (query.order, query.kinds) = (order, ["rare"])
            #expect(try log.place.reader().facts(query).facts.count == 34)
        }
        let ends = ["its row is damaged", "no log gave that number"]
        #expect(try log.verify().contains { line in ends.contains { line.hasSuffix($0) } })
        try log.reopen()
    }

    @Test(arguments: Engine.allCases)
    func `verify sees an entry too few and one too many`(kind: Engine) async throws {
        let log = try await Facts(kind, 17_000)
        let engine = log.writer.engine
        var buffer = RowBuffer()
        try engine.put(.factBucket, 5, buffer.row(.factIndex, 5, ()))
        try engine.commit()
        #expect(try log.verify().count == 1)
        #expect(try log.verify()[0].contains("nothing leads to fact"))
        var chapter = try FactChapter(0, engine)
        chapter.add(3, Sample.fact("push.accepted", activity: 9_999), tenant: 1)
        try chapter.store(0, into: &buffer, engine)
        try engine.commit()
        let wrong = try log.verify()
        #expect(wrong.contains { $0.contains("it leads to fact 3, which it is not") }, "\(wrong)")
        #expect(wrong.contains { $0.contains("it counts") })
    }

    @Test(arguments: Engine.allCases)
    func `an import makes the index of what it takes in`(kind: Engine) async throws {
        let (place, other) = (LogPlace(kind), LogPlace(kind))
        let log = try place.log()
        for round in Int64(0)..<20 {
            var batch = AppendBatch()
            batch.facts = (Int64(0)..<1_000).map {
                Sample.fact("push.accepted", activity: $0 % 7 + round)
            }
            _ = try await log.append(batch)
        }
        await log.close()
        try other.take(place.items())
        #expect(try other.verify().wrong == [])
        var query = FactQuery(tenant: Sample.lab)
        (query.activity, query.scanMax) = (ActivityNumber(0), 3_700)
        let page = try other.reader().facts(query)
        #expect(page.facts.count == 100)
        #expect(try other.reading().keys(.factBucket).count == 64)
    }

    @Test(arguments: Engine.allCases)
    func `what is erased goes out of the index too`(kind: Engine) async throws {
        let log = try await Facts(kind, 30_000)
        let device = try #require(Identifier("phone-7"))
        let erasure = LogErasure(.device(device), of: Sample.lab)
        let erased = try log.writer.erase(erasure)
        #expect(erased.facts > 500)
        _ = try await log.memory.erase(erasure)
        #expect(try log.verify() == [])
        try await log.add(6_000)
        #expect(try log.verify() == [])
        try await log.compare(rounds: 20, log.place.reader())
    }

    @Test(arguments: Engine.allCases)
    func `an erasure makes a damaged chapter's index again`(kind: Engine) async throws {
        let log = try await Facts(kind)
        try log.place.edit { try $0.delete(.factBucket, 0...63, isPersonal: true) }
        let device = try #require(Identifier("phone-7"))
        _ = try log.writer.erase(LogErasure(.device(device), of: Sample.lab))
        #expect(try log.verify() == [])
    }

    @Test(arguments: Engine.allCases)
    func `the oldest facts go where all take too many bytes, and no younger one`(kind: Engine)
        async throws
    {
        let log = try await Facts(kind, 100_000)
        let bytes = try log.bytes()
        // Six chapters are full; with less than a third of the bytes two of them stay, or one.
        var retention = LogRetention.forever
        retention.factBytes = bytes * 33 / 100
        try log.reopen(retention)
        while log.writer.cutIfDue().goesOn {}
        var all = FactQuery(tenant: Sample.lab)
        all.limit = 1
        let first = try #require(try log.place.reader().facts(all).facts.first)
        #expect(first.seq == 4 * 16_384 + 1)
        try await log.add(16_384)
        while log.writer.cutIfDue().goesOn {}
        let next = try #require(try log.place.reader().facts(all).facts.first)
        #expect(next.seq == 5 * 16_384 + 1, "another chapter is full, and counts at once")
        #expect(try log.verify() == [])
        try await log.compare(rounds: 20, cut: 5 * 16_384, log.place.reader())
        #expect(try log.bytes() < bytes / 2)
    }

    @Test(arguments: Engine.allCases)
    func `the index of facts that are cut goes with them`(kind: Engine) async throws {
        let log = try await Facts(kind)
        try log.reopen(LogRetention(history: .hours(48), facts: .seconds(10_000)))
        while log.writer.cutIfDue().goesOn {}
        try await log.add(100)
        while log.writer.cutIfDue().goesOn {}
        #expect(try log.verify() == [])
        let cut = try #require(
            try log.place.reader().facts(FactQuery(tenant: Sample.lab)).facts.first)
        #expect(cut.seq > 25_000)
        try await log.compare(rounds: 20, cut: cut.seq - 1, log.place.reader())
        #expect(try log.place.reading().keys(.factBucket).count == 64)
        #expect(try log.place.reading().keys(.factBlock).count == 1)
    }
}
