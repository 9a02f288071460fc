import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    /// Activities 1 and 2 of `lab`, and 3 of `field` in all batches but some.
    private static func mixed(_ version: Int64) -> AppendBatch {
        var batch = AppendBatch()
        for activity in Int64(1)...3 where activity < 3 || version % 3 == 0 {
            let tenant = activity == 3 ? Sample.field : Sample.lab
            let after = activity == 3 ? version / 3 : version
            batch.events.append(Sample.event(activity, after: after, tenant: tenant))
            batch.facts.append(Sample.fact("push.accepted", activity: activity, tenant: tenant))
        }
        batch.heads = Sample.batch(batch.events).heads
        return batch
    }

    private static func places(
        _ log: any EventLog, _ tenant: TenantID, limit: Int
    ) async throws -> [Int64] {
        var query = EventQuery(tenant: tenant)
        query.limit = limit
        return try await Sample.allEvents(log, query).map(\.tenantSeq)
    }

    static let counting = [
        EventLogContract("each tenant's events and facts count 1, 2, 3, whatever others write") {
            place in
            var log = try await place.recovered()
            var counts: [TenantID: Int64] = [:]
            for version in Int64(0)..<30 {
                if version % 7 == 6 {
                    log = try await place.open()
                    #expect(
                        try await log.recover().places.mapValues(\.command).filter { $0.value > 0 }
                            == counts)
                }
                let batch = mixed(version)
                let receipt = try await log.append(batch)
                for (event, place) in zip(batch.events, receipt.tenantSeqs) {
                    counts[event.tenant, default: 0] += 1
                    #expect(place == counts[event.tenant])
                }
                #expect(receipt.tenantSeqs.count == batch.events.count)
            }
            for (tenant, count) in counts {
                for limit in [1, 7, 100] {
                    #expect(try await places(log, tenant, limit: limit) == Array(1...count))
                }
                let facts = try await log.facts(FactQuery(tenant: tenant)).facts
                #expect(facts.map(\.tenantSeq) == Array(1...count))
            }
            let recovered = try await (try await place.open()).recover()
            #expect(recovered.places.mapValues(\.command).filter { $0.value > 0 } == counts)
            #expect(recovered.heads.map(\.tenantSeq) == [59, 60, 10])
        },

        EventLogContract("an event is found by its place among its tenant's") { place in
            let log = try await place.recovered()
            for version in Int64(0)..<12 { _ = try await log.append(mixed(version)) }
            for place in Int64(1)...4 {
                let found = try await log.event(tenantSeq: place, tenant: Sample.field)
                #expect(found?.tenantSeq == place)
                #expect(found?.version == place)
                #expect(found?.event.tenant == Sample.field)
            }
            for place in [Int64.min, -1, 0, 5, 25, .max] {
                #expect(try await log.event(tenantSeq: place, tenant: Sample.field) == nil)
            }
        },

        EventLogContract("a batch that is refused counts for nobody") { place in
            let log = try await place.recovered()
            _ = try await log.append(mixed(0))
            var wrong = mixed(1)
            wrong.events[1].expectedVersion = 9
            await #expect(throws: EventLogError.self) { try await log.append(wrong) }
            #expect(try await log.append(mixed(1)).tenantSeqs == [3, 4])
        },

        EventLogContract("a page ends where its tenant's events do, whatever others write") {
            place in
            let log = try await place.recovered()
            _ = try await log.append(mixed(0))
            for version in Int64(1)..<3 { _ = try await log.append(mixed(version)) }
            var query = EventQuery(tenant: Sample.field)
            (query.limit, query.through) = (1, 1)
            let page = try await log.events(query)
            #expect(page.events.map(\.tenantSeq) == [1])
            #expect(page.next == nil)
            (query.after, query.through) = (1, 1)
            #expect(try await log.events(query).events.isEmpty)
        },
    ]
}
