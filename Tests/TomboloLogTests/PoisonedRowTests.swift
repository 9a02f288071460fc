import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// A closed log of three activities with two events each, a key, a fact and a record of each.
private func filled(_ kind: Engine) async throws -> LogPlace {
    let place = LogPlace(kind)
    let log = try place.log()
    var activities = SampleActivities()
    for round in Int64(0)..<2 {
        for activity in Int64(1)...3 {
            let event = activities.next(
                activity, "{\"round\":\(round)}", at: Sample.noon, key: "key-\(round)-\(activity)")
            var batch = activities.batch([event])
            batch.facts = [Sample.fact("push.accepted", activity: activity)]
            batch.records = [Record(space: .device, number: activity, value: Array("{}".utf8))]
            _ = try await log.append(batch)
        }
    }
    await log.close()
    return place
}

/// Changes what is there by hand, then starts; activities 1 and 2 live, and take events.
private func start(
    _ place: LogPlace, lastSeq: Int64 = 6, after edit: (any LogWriting) throws -> Void
) async throws -> RecoveredLog {
    try place.edit(edit)
    let log = try place.log()
    let recovered = try await log.recover()
    #expect(recovered.lastSeq == lastSeq)
    let heads = recovered.heads.prefix(2)
    #expect(heads.map(\.activity.rawValue) == [1, 2])
    var activities = SampleActivities()
    activities.recover(
        heads.map { (ActivityHead(activity: $0.activity, value: $0.value), $0.version) })
    let events = [Int64(1), 2].map { activities.next($0, "{}", at: Sample.noon, key: "new-\($0)") }
    #expect(try await log.append(activities.batch(events)).firstSeq == lastSeq + 1)
    await log.close()
    return recovered
}

@Suite struct PoisonedRowTests {
    @Test(arguments: Engine.allCases)
    func `a damaged name of a tenant is known by its heads, and written again`(kind: Engine)
        async throws
    {
        let place = try await filled(kind)
        let recovered = try await start(place) { try $0.blank(.tenant, 1, bytes: 7) }
        #expect(recovered.damage == ["tenant 1: its row is damaged"])
        let log = try place.log()
        #expect(try await log.recover().damage.isEmpty)
        let events = try await log.events(EventQuery(tenant: Sample.lab)).events
        #expect(events.count == 8)
        await log.close()
    }

    @Test(arguments: Engine.allCases, LogCut.Key.allCases)
    func `a damaged row of where history was cut stops no start`(kind: Engine, key: LogCut.Key)
        async throws
    {
        let place = try await filled(kind)
        let recovered = try await start(place) { try $0.blank(.cut, key.rawValue, bytes: 12) }
        #expect(recovered.damage == ["where history was cut (\(key)): its row is damaged"])
        #expect(recovered.heads.map(\.version) == [2, 2, 2])
        #expect(recovered.lastActivity >= 3)
        let log = try place.log()
        #expect(try await log.recover().damage.isEmpty, "it was written again")
        await log.close()
    }

    @Test(arguments: Engine.allCases, [Int64.min, -1, 0, .max])
    func `verify takes a row of any key in any table`(kind: Engine, key: Int64) async throws {
        let place = try await filled(kind)
        for table in LogTable.Kind.allCases
        where ![.retired, .retiredName, .waypoint].contains(table) {
            try place.edit { try $0.blank(LogTable(table), key, bytes: 9_000) }
        }
        #expect(try place.verify().wrongCount > 5)
    }

    @Test(arguments: Engine.allCases)
    func `a damaged key of the hash is made again, with a line`(kind: Engine) async throws {
        let place = try await filled(kind)
        let recovered = try await start(place) { try $0.blank(.meta, 1, bytes: 20) }
        #expect(recovered.damage.count == 1)
        let line = try #require(recovered.damage.first)
        #expect(line.hasPrefix("the key of the hash of idempotency keys"))
    }

    @Test(arguments: Engine.allCases)
    func `a damaged time of the last restore stops no start`(kind: Engine) async throws {
        let place = try await filled(kind)
        let recovered = try await start(place) { try $0.blank(.meta, 2, bytes: 1) }
        #expect(recovered.damage.count == 1)
        #expect(recovered.restoredAt == nil)
    }

    @Test(arguments: Engine.allCases, [Int64.min, -5, 0, 1, 2, 16_385, 1 << 52, .max])
    func `keys of a chapter that the log does not have are no keys`(kind: Engine, first: Int64)
        async throws
    {
        let place = try await filled(kind)
        let recovered = try await start(place) { try $0.blank(.keys, first, bytes: 1) }
        #expect(
            recovered.damage == [
                "the idempotency keys of event \(first): no log has such a row"
            ])
        let log = try place.log()
        #expect(try await log.recover().damage.isEmpty, "it is gone")
        await log.close()
    }

    @Test(arguments: Engine.allCases, [Int64.max, 1 << 60, -1])
    func `an event, a fact and a head at numbers that nobody gave are left alone`(
        kind: Engine, number: Int64
    ) async throws {
        let place = try await filled(kind)
        _ = try await start(place) { engine in
            for table in [LogTable.event, .fact, .head] {
                try engine.put(table, number, try #require(try engine.bytes(table, 1)))
            }
        }
    }

    @Test(arguments: Engine.allCases, [Int64.min, -1, 1 << 60, .max])
    func `a head's version or event that no log gives takes its activity out`(
        kind: Engine, number: Int64
    ) async throws {
        for column in ["version", "seq"] {
            let place = try await filled(kind)
            let log = try place.log()
            let head = try #require(try await log.recover().heads.last)
            await log.close()
            var position = ActivityPosition(
                version: head.version, seq: head.seq, tenantSeq: head.tenantSeq, tenant: 1)
            if column == "version" { position.version = number } else { position.seq = number }
            var buffer = RowBuffer()
            let third = ActivityHead(activity: ActivityNumber(3), value: head.value)
            let row = Array(HeadRow.encode(third, position, into: &buffer))
            let recovered = try await start(place) { try $0.put(.head, 3, row) }
            #expect(recovered.damaged.map(\.number.rawValue) == [3], "\(column)")
        }
    }

    @Test(arguments: Engine.allCases)
    func `an event with numbers that no log gives is damaged, and read by nobody`(kind: Engine)
        async throws
    {
        for (version, previous) in [(Int64.min, Int64(0)), (.max, 0), (2, -1), (2, 6), (2, .max)] {
            let place = try await filled(kind)
            var buffer = RowBuffer()
            let numbers = EventRow.Numbers(
                kind: EventKind.update.rawValue, flags: 0, keyBytes: 0, tenant: 1, activity: 3,
                version: version, previous: previous, anchor: 0, recordedAt: .min)
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let row = Array("{}".utf8).withUnsafeBytes { body in
                Array(
                    EventRow.encode(
                        numbers, tenantSeq: 6, digest: 0, key: nothing, body: body, 6,
                        into: &buffer))
            }
            _ = try await start(place) { try $0.put(.event, 6, row) }
            let log = try place.log()
            let seqs = try await log.history(after: 0, limit: 100).map(\.seq)
            #expect(seqs == [1, 2, 3, 4, 5, 7, 8])
            await log.close()
        }
    }

    @Test(arguments: Engine.allCases)
    func `what begins in the place of a damaged activity takes its head away`(kind: Engine)
        async throws
    {
        let place = try await filled(kind)
        try place.edit { try $0.blank(.head, 3, bytes: 40) }
        let log = try place.log()
        #expect(try await log.recover().damaged.map(\.number.rawValue) == [3])
        var activities = SampleActivities()
        let event = activities.next(4, "{}", at: Sample.noon)
        var batch = activities.batch([event])
        batch.replaced = [ActivityNumber(3)]
        _ = try await log.append(batch)
        await log.close()
        let next = try place.log()
        let recovered = try await next.recover()
        #expect(recovered.damaged.isEmpty)
        #expect(recovered.heads.map(\.activity.rawValue) == [1, 2, 4])
        await next.close()
    }
}
