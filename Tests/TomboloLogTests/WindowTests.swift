import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

struct WindowTests {
    private static let tenants = [Sample.lab, Sample.field]
    private static let kinds = ["push.accepted", "token.registered"]

    /// Events and facts of two tenants in batches of a few.
    private static func fill(
        _ writer: LogWriter, _ histories: inout [SampleActivities], batches: Int,
        _ chance: inout SplitMix64
    ) throws {
        for number in 0..<batches {
            let owner = Int(chance.next(below: 2))
            let at = Sample.noon + .seconds(Int64(number))
            let activity = Int64(owner * 100) + Int64(chance.next(below: 4))
            var batch = AppendBatch()
            if chance.next(below: 3) > 0 {
                let next = histories[owner].next(activity, "{\"n\":\(number)}", at: at)
                batch = histories[owner].batch([next])
            }
            for _ in 0..<chance.next(below: 3) {
                var fact = Sample.fact(
                    Self.kinds[Int(chance.next(below: 2))], activity: activity,
                    tenant: Self.tenants[owner])
                fact.recordedAt = at
                batch.facts.append(fact)
            }
            _ = try writer.store([batch])[0].get()
        }
    }

    private static func histories() -> [SampleActivities] {
        tenants.map { SampleActivities(tenant: $0) }
    }

    /// All that a query leads to, as far as the window knows it, else by the reader.
    private static func all(
        _ query: EventQuery, _ window: LogWindow?, _ reader: LogReader, _ hits: inout Int
    ) throws -> [RecordedEvent] {
        var (query, events): (EventQuery, [RecordedEvent]) = (query, [])
        while true {
            let known = window?.events(query)
            if known != nil { hits += 1 }
            let page = try known ?? reader.events(query)
            #expect(page.damaged.isEmpty)
            events += page.events
            guard let next = page.next else { return events }
            query.after = next
            query.place = nil
        }
    }

    private static func all(
        _ query: FactQuery, _ window: LogWindow?, _ reader: LogReader, _ hits: inout Int
    ) throws -> [RecordedFact] {
        var (query, facts): (FactQuery, [RecordedFact]) = (query, [])
        while true {
            let known = window?.facts(query)
            if known != nil { hits += 1 }
            let page = try known ?? reader.facts(query)
            facts += page.facts
            guard let next = page.next else { return facts }
            query.goOn(at: next)
        }
    }

    /// A log that was opened again: its window has the newer part alone.
    private static func opened(
        _ kind: Engine, _ chance: inout SplitMix64
    ) throws -> (LogPlace, LogWriter, LogReader) {
        let place = LogPlace(kind)
        var histories = Self.histories()
        try fill(place.writer(), &histories, batches: 150, &chance)
        let writer = try place.writer()
        #expect(writer.window.facts(FactQuery(tenant: Sample.lab)) == nil)
        try fill(writer, &histories, batches: 300, &chance)
        return (place, writer, try place.reader())
    }

    @Test(arguments: Engine.allCases)
    func `the window gives the pages that the engine gives`(_ kind: Engine) throws {
        var chance = SplitMix64(seed: 5)
        let (place, writer, reader) = try Self.opened(kind, &chance)
        var (hits, none) = (0, 0)
        for _ in 0..<400 {
            var query = EventQuery(tenant: Self.tenants[Int(chance.next(below: 2))])
            query.after = Int64(chance.next(below: 180))
            query.limit = 1 + Int(chance.next(below: 60))
            if chance.next(below: 3) == 0 { query.bytesMax = 1 + Int(chance.next(below: 300)) }
            if chance.next(below: 3) == 0 {
                query.activity = ActivityNumber(Int64(chance.next(below: 4)))
            }
            if chance.next(below: 3) == 0 { query.kind = .update }
            if chance.next(below: 4) == 0 { query.through = query.after + 10 }
            if chance.next(below: 3) == 0 {
                query.from = Sample.noon + .seconds(Int64(chance.next(below: 300)))
            }
            let (all, right) = (
                try Self.all(query, writer.window, reader, &hits),
                try Self.all(query, nil, reader, &none)
            )
            #expect(all == right, "\(query)")
        }
        #expect(hits > 100 && none == 0)
        withExtendedLifetime(place) {}
    }

    @Test(arguments: Engine.allCases)
    func `the window gives the pages of facts that the engine gives`(_ kind: Engine) throws {
        var chance = SplitMix64(seed: 6)
        let (place, writer, reader) = try Self.opened(kind, &chance)
        var (hits, none) = (0, 0)
        for _ in 0..<400 {
            var query = FactQuery(tenant: Self.tenants[Int(chance.next(below: 2))])
            query.order = chance.next(below: 2) == 0 ? .oldestFirst : .newestFirst
            query.after = Int64(chance.next(below: 200))
            query.limit = 1 + Int(chance.next(below: 60))
            if chance.next(below: 3) == 0 { query.before = Int64(chance.next(below: 300)) }
            if chance.next(below: 3) == 0 { query.kinds = [Self.kinds[0]] }
            if chance.next(below: 3) == 0 {
                query.activity = ActivityNumber(Int64(chance.next(below: 4)))
            }
            if chance.next(below: 4) == 0 {
                query.until = Sample.noon + .seconds(Int64(chance.next(below: 300)))
            }
            let (all, right) = (
                try Self.all(query, writer.window, reader, &hits),
                try Self.all(query, nil, reader, &none)
            )
            #expect(all == right, "\(query)")
        }
        #expect(hits > 100 && none == 0)
        withExtendedLifetime(place) {}
    }

    @Test(arguments: [LogWindow.rowsMax, LogWindow.rowsMax + 1])
    func `the window has so many rows and no more`(_ count: Int) throws {
        let writer = try LogPlace(.memory).writer()
        var batch = AppendBatch()
        batch.facts = [Sample.fact("push.accepted")]
        var query = FactQuery(tenant: Sample.lab)
        query.limit = 1
        for number in 0..<count {
            if number % LogWindow.idleMax == 0 { _ = writer.window.facts(query) }
            _ = try writer.store([batch])[0].get()
        }
        let oldest = writer.window.facts(query)
        #expect((oldest == nil) == (count > LogWindow.rowsMax))
        query.after = 1
        #expect(writer.window.facts(query)?.facts.first?.seq == 2)
    }

    @Test(arguments: [0, 1])
    func `the window has so many bytes and no more`(_ more: Int) throws {
        let writer = try LogPlace(.memory).writer()
        // As stored: the checksum and other numbers take 32 bytes, the kind 13.
        let half = LogWindow.bytesMax / 2 - 45
        var query = FactQuery(tenant: Sample.lab)
        (query.limit, query.bytesMax) = (1, 1)
        #expect(writer.window.facts(query) == nil)
        for count in [half, half + more] {
            var batch = AppendBatch()
            batch.facts = [Sample.fact("push.accepted")]
            batch.facts[0].body = [UInt8](repeating: 0x20, count: count)
            _ = try writer.store([batch])[0].get()
        }
        #expect((writer.window.facts(query) == nil) == (more > 0))
    }

    @Test func `the window keeps no rows where nobody asks for long`() throws {
        let writer = try LogPlace(.memory).writer()
        var (batch, query) = (AppendBatch(), FactQuery(tenant: Sample.lab))
        batch.facts = [Sample.fact("push.accepted")]
        query.order = .newestFirst
        query.limit = 1
        for _ in 0..<LogWindow.idleMax + 1 { _ = try writer.store([batch])[0].get() }
        #expect(writer.window.facts(query) == nil)
        for count in [LogWindow.idleMax, LogWindow.idleMax + 1] {
            for _ in 0..<count { _ = try writer.store([batch])[0].get() }
            #expect((writer.window.facts(query) == nil) == (count > LogWindow.idleMax))
        }
    }

    @Test(arguments: Engine.allCases)
    func `a tail and a page after an erasure have nothing of what was erased`(
        _ kind: Engine
    ) async throws {
        let place = LogPlace(kind)
        let log = try await place.open()
        var history = SampleActivities(tenant: Sample.lab)
        let start = history.next(7, "{\"word\":\"secret\"}", at: Sample.noon)
        var batch = history.batch([start])
        batch.facts = [Sample.fact("push.accepted", activity: 7)]
        _ = try await log.append(batch)
        var tail = EventQuery(tenant: Sample.lab)
        (tail.place, tail.through) = (0, 1)
        let (page, facts) = (EventQuery(tenant: Sample.lab), FactQuery(tenant: Sample.lab))
        for query in [tail, page] {
            #expect(try await log.events(query).events.first?.event.body.isEmpty == false)
        }
        let body = try await log.facts(facts).facts.first?.fact.body
        #expect(body?.count ?? 0 > 2)
        let erasure = LogErasure(.activity(ActivityNumber(7)), of: Sample.lab)
        let erased = try await log.erase(erasure)
        #expect(erased.events == 1)
        for query in [tail, page] {
            #expect(try await log.events(query).events.map(\.event.body) == [[]])
        }
        #expect(try await log.facts(facts).facts.map(\.fact.body) == [Array("{}".utf8)])
        await log.close()
    }

    @Test(arguments: Engine.allCases)
    func `nothing that was cut is in the window`(_ kind: Engine) throws {
        let place = LogPlace(kind)
        let writer = try place.writer(LogRetention(history: .hours(1), facts: .hours(1)))
        let reader = try LogReader(
            place.reading(), window: writer.window, damage: DamageList())
        var (chance, histories) = (SplitMix64(seed: 7), Self.histories())
        #expect(writer.window.facts(FactQuery(tenant: Sample.lab)) == nil)
        try Self.fill(writer, &histories, batches: 200, &chance)
        let last = try #require(writer.window.committed)
        var late = AppendBatch()
        late.facts = [Sample.fact("push.accepted")]
        late.facts[0].recordedAt = Sample.noon + .hours(100)
        _ = try writer.store([late])[0].get()
        place.setFull(true)
        writer.cutIfDue()
        #expect(writer.window.committed?.cut == 0, "nothing is cut")
        place.setFull(false)
        while writer.cutIfDue().goesOn {}
        let query = FactQuery(tenant: Sample.lab)
        #expect(writer.window.committed?.cut == last.event)
        let kept = try #require(writer.window.facts(query))
        #expect(kept.facts.map(\.seq) == [last.fact + 1])
        #expect(try reader.facts(query).facts == kept.facts)
        #expect(try reader.events(EventQuery(tenant: Sample.field)).events.isEmpty)
    }
}
