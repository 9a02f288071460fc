import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON

@testable import TomboloLog

/// Pages and moments of a log that is long enough for blocks, snapshots and heads without rows; an
/// in-memory log with the same batches says what is right.
@Suite struct PagingTests {
    /// Activity 1 has every other event, 2 to 9 the rest, and activity 900 of another tenant one in
    /// a hundred.
    private struct Twins {
        let place: LogPlace
        let memory = InMemoryEventLog()
        var writer: LogWriter
        var activities = SampleActivities()
        var others = SampleActivities(tenant: Sample.field)
        var chance = SplitMix64(seed: 3)

        init(_ kind: Engine, _ count: Int64) async throws {
            place = LogPlace(kind)
            writer = try place.writer()
            var batch: [NewEvent] = []
            for seq in 1...count {
                batch.append(event(seq))
                if batch.count == 50 {
                    var whole = activities.batch(batch.filter { $0.tenant == Sample.lab })
                    whole.events = batch
                    whole.heads += others.batch(batch.filter { $0.tenant == Sample.field }).heads
                    _ = try writer.store([whole])[0].get()
                    _ = try await memory.append(whole)
                    batch = []
                }
            }
        }

        private mutating func event(_ seq: Int64) -> NewEvent {
            let at = Sample.noon + .seconds(seq)
            let state = "{\"n\":\(seq)}"
            if seq % 100 == 0 { return others.next(900, state, at: at) }
            let activity = seq % 2 == 1 ? 1 : 2 + Int64(chance.next(below: 8))
            let kind: EventKind = chance.next(below: 700) == 0 ? .end : .update
            return activities.next(activity, state, kind: kind, at: at)
        }
    }

    private func seqs(_ query: EventQuery, _ reader: LogReader) throws -> [Int64] {
        var (query, seqs): (EventQuery, [Int64]) = (query, [])
        while true {
            let page = try reader.events(query)
            #expect(page.events.count <= query.limit)
            seqs += page.events.map(\.seq)
            guard let next = page.next else { return seqs }
            try #require(next > query.after, "a page always leads on")
            query.after = next
        }
    }

    @Test(arguments: Engine.two)
    func `whatever is asked for, the same events come as from a list`(kind: Engine) async throws {
        var twins = try await Twins(kind, 36_000)
        let reader = try twins.place.reader()
        for round in 0..<120 {
            var query = EventQuery(tenant: round % 9 == 0 ? Sample.field : Sample.lab)
            func pick(_ count: UInt64) -> Int64 { Int64(twins.chance.next(below: count)) }
            query.after = pick(query.tenant == Sample.field ? 370 : 37_000)
            query.limit = 50 + Int(pick(900))
            if pick(2) == 0 { query.activity = ActivityNumber([1, 1, 2, 7, 900][Int(pick(5))]) }
            if pick(3) == 0 { query.kind = [.end, .start, .update][Int(pick(3))] }
            if pick(3) == 0 { query.from = Sample.noon + .seconds(pick(36_000)) }
            if pick(3) == 0 { query.until = Sample.noon + .seconds(pick(36_000)) }
            if pick(4) == 0 { query.scanMax = 3_000 }
            let expected = try await Sample.allEvents(twins.memory, query).map(\.seq)
            #expect(try seqs(query, reader) == expected, "\(query)")
        }
    }

    @Test(arguments: Engine.allCases)
    func `what nobody has is answered by one short page`(kind: Engine) async throws {
        let twins = try await Twins(kind, 20_000)
        let reader = try twins.place.reader()
        var query = EventQuery(tenant: Sample.lab)
        query.kind = .play
        query.scanMax = 4_000
        let page = try reader.events(query)
        #expect(page.events.isEmpty)
        #expect(
            page.next == nil, "all but the newest 3,616 are passed over")
    }

    @Test(arguments: Engine.allCases)
    func `a state of any moment is at most one snapshot away`(kind: Engine) async throws {
        let twins = try await Twins(kind, 8_000)
        let reader = try twins.place.reader()
        var query = EventQuery(tenant: Sample.lab)
        query.activity = ActivityNumber(1)
        let events = try await Sample.allEvents(twins.memory, query)
        let newest = try #require(events.last)
        var whole = ActivityFold()
        var followed = 0
        for index in stride(from: 0, to: events.count, by: 331) {
            let asked = events[index]
            for event in events[followed...index] { _ = whole.apply(event) }
            followed = index + 1
            for moment in [
                .tenantSeq(asked.tenantSeq), .instant(asked.event.recordedAt),
            ] as [LogMoment] {
                let found = try reader.snapshot(
                    of: ActivityNumber(1), tenant: Sample.lab, at: moment, newest: newest.seq)
                #expect((found == nil) == (index < 255), "version \(index + 1)")
                guard let found else { continue }
                #expect(asked.version - found.version < 300)
                #expect(found.version <= asked.version)
                var fold = try #require(
                    ActivityFold(found.value, version: found.version, seq: found.seq))
                for event in events[...index] where event.seq > found.seq { _ = fold.apply(event) }
                #expect(fold.projection?.state.bytes == whole.projection?.state.bytes)
                #expect(fold.projection?.version == asked.version)
            }
        }
        #expect(
            try reader.snapshot(
                of: ActivityNumber(1), tenant: Sample.field, at: .tenantSeq(7_000),
                newest: newest.seq)
                == nil, "it is nobody else's")
    }

    @Test func `damaged snapshots make the way longer, and no page another one`() async throws {
        let twins = try await Twins(.memory, 36_000)
        let reader = try twins.place.reader()
        var query = EventQuery(tenant: Sample.lab)
        (query.activity, query.after, query.limit) = (ActivityNumber(1), 700, 120)
        let right = try seqs(query, reader)
        let newest = try #require(right.last)
        let stones = try twins.place.reading().keys(.snapshot)
        let own = try twins.place.reading()
        let far = try own.row(.snapshot, try #require(stones.last { $0 % 2 == 1 })) {
            SnapshotRow.numbers($0, $1)?.far
        }
        // One that a leap passes over, then the one that it leads to.
        let leap = try #require(far)
        #expect(leap > 30_000)
        let passed = try #require(stones.filter { $0 % 2 == 1 && $0 > leap }.dropLast().last)
        for gone in [passed, leap] {
            try twins.place.edit { engine in
                try engine.blank(.snapshot, gone, bytes: 90)
            }
            #expect(try seqs(query, reader) == right)
            for moment in [.tenantSeq(1_400), .instant(Sample.noon + .seconds(1_400))]
                as [LogMoment]
            {
                let found = try reader.snapshot(
                    of: ActivityNumber(1), tenant: Sample.lab, at: moment, newest: newest)
                #expect((found == nil) == (gone == leap))
                if let found { #expect((800...1_400).contains(found.seq)) }
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `heads that have no row yet are made again from the events`(kind: Engine) async throws {
        let twins = try await Twins(kind, 3_000)
        // The first writer is dropped as by a crash: nothing but its commits is there.
        let again = try twins.place.writer()
        let recovered = try again.recover(idempotencySince: .distantPast)
        let expected = try await twins.memory.recover()
        #expect(recovered.heads == expected.heads)
        #expect(recovered.damage.isEmpty)
        again.writeLaterHeads()
        let third = try twins.place.writer()
        #expect(try third.recover(idempotencySince: .distantPast).heads == expected.heads)
    }
}
