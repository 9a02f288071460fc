import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    /// A head as the core writes it: its name is found in it.
    private static func head(_ activity: Int64, _ name: String) -> ActivityHead {
        let value = """
            {"id":"\(name)","tenant":"lab","incarnation":1,"type":"T","app":"a","route":0,\
            "attributes":{},"unknown":0,"started":0,"digest":"1","state":{},"changed":0,"ended":0}
            """
        return ActivityHead(activity: ActivityNumber(activity), value: Array(value.utf8))
    }

    private static func key(_ name: String, _ tenant: TenantID = Sample.lab) throws -> ActivityKey {
        ActivityKey(tenant: tenant, id: try #require(Identifier(name)))
    }

    /// Activities 1 "one" and 2 "two" have two events each; 1 is retired.
    private static func filled(_ place: any EventLogPlace) async throws -> any EventLog {
        let log = try await place.recovered()
        var batch = Sample.batch(
            Sample.event(1, after: 0, .start), Sample.event(2, after: 0, .start),
            Sample.event(1, after: 1, .end), Sample.event(2, after: 1))
        batch.heads = [head(1, "one"), head(2, "two")]
        _ = try await log.append(batch)
        _ = try await log.append(try retiring(1, "one"))
        return log
    }

    private static func retiring(_ activity: Int64, _ name: String) throws -> AppendBatch {
        var batch = AppendBatch()
        batch.retired = [
            RetiredActivity(
                activity: ActivityNumber(activity), name: try #require(Identifier(name)),
                endedAt: Sample.noon)
        ]
        return batch
    }

    static let retiring = [
        EventLogContract("a retired activity is found by name and number, and not among heads") {
            place in
            _ = try await filled(place)
            let log = try await place.open()
            let recovered = try await log.recover()
            #expect(recovered.heads.map(\.activity.rawValue) == [2])
            #expect(recovered.hasRetired)
            #expect(recovered.lastActivity == 2)
            let one = RecoveredHead(
                activity: ActivityNumber(1), version: 2, seq: 3, value: head(1, "one").value)
            let asked = try [key("two"), key("one"), key("three")]
            #expect(try await log.retired(named: asked) == [one])
            #expect(try await log.retired(ActivityNumber(1), tenant: Sample.lab) == one)
            #expect(try await log.retired(ActivityNumber(2), tenant: Sample.lab) == nil)
            var query = EventQuery(tenant: Sample.lab)
            query.activity = ActivityNumber(1)
            #expect(try await Sample.allEvents(log, query).map(\.seq) == [1, 3])
        },

        EventLogContract("a retired activity is nobody else's") { place in
            let log = try await filled(place)
            #expect(try await log.retired(named: [key("one", Sample.field)]).isEmpty)
            #expect(try await log.retired(ActivityNumber(1), tenant: Sample.field) == nil)
        },

        EventLogContract("a retired activity that begins again lives, at its old number") { place in
            let log = try await filled(place)
            await #expect(throws: EventLogError.self) {
                try await log.append(Sample.batch(Sample.event(1, after: 0, .start)))
            }
            let receipt = try await log.append(Sample.batch(Sample.event(1, after: 2, .start)))
            #expect(try await log.event(seq: receipt.firstSeq, tenant: Sample.lab)?.previous == 3)
            #expect(try await log.retired(ActivityNumber(1), tenant: Sample.lab) == nil)
            #expect(try await log.retired(named: [key("one")]).isEmpty)
            let recovered = try await place.open().recover()
            #expect(recovered.heads.map(\.version) == [3, 2])
        },

        EventLogContract("to retire what does not live is nothing") { place in
            let log = try await filled(place)
            _ = try await log.append(try retiring(1, "one"))
            _ = try await log.append(try retiring(9, "nine"))
            #expect(try await log.retired(named: [key("one"), key("nine")]).map(\.seq) == [3])
        },
    ]
}
