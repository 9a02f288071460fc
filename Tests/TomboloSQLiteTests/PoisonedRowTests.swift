import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

/// A closed log of three activities with two events each, a key, a fact and a record of each.
private func filled() async throws -> SQLitePlace {
    let place = SQLitePlace()
    let log = try place.reopen()
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
    _ place: SQLitePlace, after sql: String, lastSeq: Int64 = 6
) async throws -> RecoveredLog {
    shell(place, sql)
    let log = try place.reopen()
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

/// A blob of SQL.
private func blob(_ row: UnsafeRawBufferPointer) -> String {
    let hex = row.map { byte in
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
    }
    return "x'\(hex.joined())'"
}

@Suite struct PoisonedRowTests {
    @Test func `a damaged name of a tenant is known by its heads, and written anew`() async throws {
        let place = try await filled()
        let recovered = try await start(place, after: "UPDATE tenant SET row = zeroblob(7)")
        #expect(recovered.damage == ["tenant 1: its row is damaged"])
        let log = try place.reopen()
        #expect(try await log.recover().damage.isEmpty)
        let events = try await log.events(EventQuery(tenant: Sample.lab)).events
        #expect(events.count == 8)
        await log.close()
    }

    @Test(arguments: LogCut.Key.allCases)
    func `a damaged row of where history was cut stops no start`(key: LogCut.Key) async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "INSERT OR REPLACE INTO cut VALUES(\(key.rawValue), zeroblob(12))")
        #expect(recovered.damage == ["where history was cut (\(key)): its row is damaged"])
        #expect(recovered.heads.map(\.version) == [2, 2, 2])
        #expect(recovered.lastActivity >= 3)
        let log = try place.reopen()
        #expect(try await log.recover().damage.isEmpty, "it was written anew")
        await log.close()
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `verify takes a row of any key in any table`(key: Int64) async throws {
        let place = try await filled()
        for kind in LogTable.Kind.allCases
        where ![.retired, .retiredName, .waypoint].contains(kind) {
            let name = LogTable(kind).name
            shell(place, "INSERT OR REPLACE INTO \(name)(key, row) VALUES(\(key), zeroblob(9000))")
        }
        let verdict = try LogVerification(path: place.directory + "/tombolo.db").run { _ in }
        #expect(verdict.wrongCount > 5)
    }

    @Test func `a damaged key of the hash is made anew, with a line`() async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "UPDATE meta SET row = zeroblob(20) WHERE key = 1")
        #expect(recovered.damage.count == 1)
        let line = try #require(recovered.damage.first)
        #expect(line.hasPrefix("the key of the hash of idempotency keys"))
    }

    @Test func `a damaged time of the last restore stops no start`() async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "INSERT INTO meta(key, row) VALUES(2, x'00')")
        #expect(recovered.damage.count == 1)
        #expect(recovered.restoredAt == nil)
    }

    @Test(arguments: [Int64.min, -5, 0, 1, 2, 16_385, 1 << 52, .max])
    func `keys of a chapter that the log does not have are no keys`(first: Int64) async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "INSERT INTO keys(key, row) VALUES(\(first), x'00')")
        #expect(
            recovered.damage == [
                "the idempotency keys of event \(first): no log has such a row"
            ])
        let log = try place.reopen()
        #expect(try await log.recover().damage.isEmpty, "it is gone")
        await log.close()
    }

    @Test(arguments: [Int64.max, 1 << 60, -1])
    func `an event, a fact and a head at numbers that nobody gave are left alone`(
        number: Int64
    ) async throws {
        let place = try await filled()
        _ = try await start(
            place,
            after: """
                INSERT INTO event(key, row) SELECT \(number), row FROM event WHERE key = 1;
                INSERT INTO fact(key, row) SELECT \(number), row FROM fact WHERE key = 1;
                INSERT INTO head(key, row) SELECT \(number), row FROM head WHERE key = 1
                """)
    }

    @Test(arguments: [Int64.min, -1, 1 << 60, .max])
    func `a head's version or event that no log gives takes its activity out`(
        number: Int64
    ) async throws {
        for column in ["version", "seq"] {
            let place = try await filled()
            let log = try place.reopen()
            let head = try #require(try await log.recover().heads.last)
            await log.close()
            var mark = ActivityMarks.Mark(
                version: head.version, seq: head.seq, tenantSeq: head.tenantSeq, tenant: 1)
            if column == "version" { mark.version = number } else { mark.seq = number }
            var buffer = RowBuffer()
            let row = HeadRow.encode(
                ActivityHead(activity: ActivityNumber(3), value: head.value), mark, into: &buffer)
            let recovered = try await start(
                place, after: "UPDATE head SET row = \(blob(row)) WHERE key = 3")
            #expect(recovered.damaged.map(\.number.rawValue) == [3], "\(column)")
        }
    }

    @Test func `an event with numbers that no log gives is damaged, and read by nobody`()
        async throws
    {
        for (version, previous) in [(Int64.min, Int64(0)), (.max, 0), (2, -1), (2, 6), (2, .max)] {
            let place = try await filled()
            var buffer = RowBuffer()
            let numbers = EventRow.Numbers(
                kind: EventKind.update.rawValue, flags: 0, keyBytes: 0, tenant: 1, activity: 3,
                version: version, previous: previous, anchor: 0, recordedAt: .min)
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let row = Array("{}".utf8).withUnsafeBytes { body in
                blob(
                    EventRow.encode(
                        numbers, tenantSeq: 6, digest: 0, key: nothing, body: body, 6,
                        into: &buffer))
            }
            _ = try await start(place, after: "UPDATE event SET row = \(row) WHERE key = 6")
            let log = try place.reopen()
            let seqs = try await log.history(after: 0, limit: 100).map(\.seq)
            #expect(seqs == [1, 2, 3, 4, 5, 7, 8])
            await log.close()
        }
    }

    @Test func `what begins in the place of a damaged activity takes its head away`() async throws {
        let place = try await filled()
        shell(place, "UPDATE head SET row = zeroblob(40) WHERE key = 3")
        let log = try place.reopen()
        #expect(try await log.recover().damaged.map(\.number.rawValue) == [3])
        var activities = SampleActivities()
        let event = activities.next(4, "{}", at: Sample.noon)
        var batch = activities.batch([event])
        batch.replaced = [ActivityNumber(3)]
        _ = try await log.append(batch)
        await log.close()
        let next = try place.reopen()
        let recovered = try await next.recover()
        #expect(recovered.damaged.isEmpty)
        #expect(recovered.heads.map(\.activity.rawValue) == [1, 2, 4])
        await next.close()
    }
}
