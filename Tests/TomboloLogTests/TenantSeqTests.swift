import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// Places among a tenant's own events, far apart in the log: waypoints lead to them.
@Suite struct TenantSeqTests {
    /// `lab` writes all but what `field` does at some places, the last of them far before the end.
    private final class Sparse {
        static let rare: [Int64] = [2, 4_300, 9_000, 9_001, 9_002, 21_000]
        let place: LogPlace
        var busy = SampleActivities()
        var calm = SampleActivities(tenant: Sample.field)

        init(_ kind: Engine, _ count: Int64 = 30_000) throws {
            place = LogPlace(kind)
            let writer = try writer()
            for start in stride(from: Int64(1), through: count, by: 1_000) {
                let events = (start..<start + 1_000).map(event)
                var batch = busy.batch(events.filter { $0.tenant == Sample.lab })
                batch.events = events
                batch.heads += calm.batch(events.filter { $0.tenant == Sample.field }).heads
                batch.facts = events.map { event in
                    Sample.fact("push.accepted", tenant: event.tenant)
                }
                _ = try writer.store([batch])[0].get()
                writer.checkpointIfDue()
            }
        }

        func writer() throws -> LogWriter {
            // Shorter than an operator may have it.
            var retention = LogRetention.standard
            (retention.history, retention.facts) = (.hours(3), .hours(3))
            return try place.writer(retention)
        }

        private func event(_ seq: Int64) -> NewEvent {
            let at = Sample.noon + .seconds(seq)
            let isRare = Self.rare.contains(seq)
            return isRare ? calm.next(900, "{}", at: at) : busy.next(1 + seq % 7, "{}", at: at)
        }
    }

    @Test(arguments: Engine.allCases)
    func `a place is found wherever its row is in the log`(kind: Engine) throws {
        let log = try Sparse(kind)
        let reader = try log.place.reader()
        for (index, seq) in Sparse.rare.enumerated() {
            let place = Int64(index) + 1
            #expect(try reader.event(tenantSeq: place, tenant: Sample.field)?.seq == seq)
            var query = EventQuery(tenant: Sample.field)
            query.after = place
            let rest = try reader.events(query)
            #expect(rest.events.map(\.seq) == Array(Sparse.rare[(index + 1)...]))
            #expect(rest.next == nil)
            var facts = FactQuery(tenant: Sample.field)
            facts.after = place
            #expect(try reader.facts(facts).facts.map(\.seq) == Array(Sparse.rare[(index + 1)...]))
        }
        for place in [Int64(1), 4_096, 4_297, 20_000, 29_994] {
            let found = try #require(try reader.event(tenantSeq: place, tenant: Sample.lab))
            #expect(found.tenantSeq == place)
        }
        #expect(try reader.event(tenantSeq: 29_995, tenant: Sample.lab) == nil)
    }

    @Test(arguments: Engine.allCases)
    func `a full page says whether its tenant has more, and nothing of others`(kind: Engine)
        throws
    {
        let log = try Sparse(kind)
        let reader = try log.place.reader()
        var query = EventQuery(tenant: Sample.field)
        query.limit = 6
        query.through = 6
        #expect(try reader.events(query).next == nil)
        query.limit = 5
        #expect(try reader.events(query).next == 5)
        var facts = FactQuery(tenant: Sample.field)
        facts.limit = 6
        #expect(try reader.facts(facts).next == nil)
        facts.limit = 5
        #expect(try reader.facts(facts).next == 5)
    }

    @Test(arguments: Engine.allCases)
    func `a cut leaves places as they were, and what leads to them`(kind: Engine) throws {
        let log = try Sparse(kind)
        let writer = try log.writer()
        _ = try writer.recover(idempotencySince: .distantPast)
        for round in Int64(0)..<20 {
            let late = log.calm.next(900, "{}", at: Sample.noon + .seconds(30_001 + round))
            let answer = writer.store([log.calm.batch([late])])[0]
            #expect(try answer.get().tenantSeqs == [7 + round])
            while writer.cutIfDue().goesOn {}
        }
        let reader = try log.place.reader()
        let kept = Sparse.rare.filter { $0 > 19_200 }
        var query = EventQuery(tenant: Sample.field)
        for after in Int64(0)...5 {
            query.after = after
            let found = try reader.events(query).events
            #expect(found.map(\.seq).filter { $0 <= 30_000 } == kept, "after \(after)")
            #expect(found.map(\.tenantSeq) == Array(6...26))
        }
        #expect(try reader.event(tenantSeq: 3, tenant: Sample.field) == nil)
        #expect(try reader.event(tenantSeq: 6, tenant: Sample.field)?.seq == 21_000)
        let found = try #require(try reader.event(tenantSeq: 25_000, tenant: Sample.lab))
        #expect(found.tenantSeq == 25_000)
        writer.leaveWALOnClose()
        let again = try log.writer().recover(idempotencySince: .distantPast)
        #expect(
            again.places.mapValues(\.command).filter { $0.value > 0 } == [
                Sample.lab: 29_994, Sample.field: 26,
            ])
        #expect(try log.place.verify().wrong.isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func `where a tally is damaged no place is given twice`(kind: Engine) throws {
        let log = try Sparse(kind, 2_000)
        try log.place.edit { try $0.blank(.tally, 2, bytes: 20) }
        let writer = try log.writer()
        let recovered = try writer.recover(idempotencySince: .distantPast)
        #expect(recovered.damage.count == 1)
        let late = log.calm.next(900, "{}", at: Sample.noon + .seconds(30_001))
        let place = try writer.store([log.calm.batch([late])])[0].get().tenantSeqs[0]
        #expect(place > 1)
        var query = EventQuery(tenant: Sample.field)
        query.after = 1
        #expect(try log.place.reader().events(query).events.map(\.tenantSeq) == [place])
    }
}
