import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

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

/// A value whose checksum is right.
private func crc(_ table: RowChecksum.Table, _ build: (inout RowChecksum) -> Void) -> Int64 {
    var sum = RowChecksum(table)
    build(&sum)
    return sum.stored
}

@Suite struct PoisonedRowTests {
    @Test func `a damaged name of a tenant is known by its heads, and written anew`() async throws {
        let place = try await filled()
        let recovered = try await start(place, after: "UPDATE tenant SET name = 'lxb'")
        #expect(recovered.damage == ["tenant 1: its row is damaged"])
        let log = try place.reopen()
        #expect(try await log.recover().damage.isEmpty)
        let events = try await log.events(EventQuery(tenant: Sample.lab)).events
        #expect(events.count == 8)
        await log.close()
    }

    @Test(arguments: ["log", "fact", "activity", "heads"])
    func `a damaged row of where history was cut stops no start`(name: String) async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "INSERT OR REPLACE INTO cut(name, value, crc) VALUES('\(name)', 77, 1)")
        #expect(recovered.damage == ["where history was cut (\(name)): its row is damaged"])
        #expect(recovered.heads.map(\.version) == [2, 2, 2])
        #expect(recovered.lastActivity >= 3)
        let log = try place.reopen()
        #expect(try await log.recover().damage.isEmpty, "it was written anew")
        await log.close()
    }

    @Test func `a damaged key of the hash is made anew, with a line`() async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "UPDATE meta SET value = zeroblob(16) WHERE name GLOB 'idem*'")
        #expect(recovered.damage.count == 1)
        let line = try #require(recovered.damage.first)
        #expect(line.hasPrefix("the key of the hash of idempotency keys"))
    }

    @Test func `a damaged time of the last restore stops no start`() async throws {
        let place = try await filled()
        let recovered = try await start(
            place, after: "INSERT INTO meta(name, crc, value) VALUES('restored_at', 1, x'00')")
        #expect(recovered.damage.count == 1)
        #expect(recovered.restoredAt == nil)
    }

    @Test(arguments: [0, -5, 1 << 52, Int64.max])
    func `a key of an event that the log does not have is no key`(seq: Int64) async throws {
        let place = try await filled()
        let hour = IdempotencyKey.hour(of: Sample.noon)
        let sum = crc(.idempotency) { $0.add((seq, Int64(5))) }
        let recovered = try await start(
            place,
            after: """
                INSERT INTO idempotency_\(hour)(seq, hash, crc) VALUES(\(seq), 5, \(sum))
                """)
        #expect(
            recovered.damage == ["the idempotency key of event \(seq): the log has no such event"])
    }

    @Test(arguments: [Int64.max, 1 << 60, -1])
    func `an event, a fact and a head at numbers that nobody gave are left alone`(
        number: Int64
    ) async throws {
        let place = try await filled()
        _ = try await start(
            place,
            after: """
                INSERT INTO event(seq, row) SELECT \(number), row FROM event WHERE seq = 1;
                INSERT INTO fact SELECT \(number), tenant, activity, recorded_at, crc, kind,
                    body, NULL FROM fact WHERE seq = 1;
                INSERT INTO head SELECT \(number), tenant, version, seq, crc, value, NULL
                    FROM head WHERE activity = 1
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
            let (version, seq) =
                column == "version" ? (number, head.seq) : (head.version, number)
            let sum = crc(.head) { sum in
                sum.add((Int64(3), Int64(1), version, seq))
                head.value.withUnsafeBytes { sum.add($0) }
            }
            let recovered = try await start(
                place,
                after: """
                    UPDATE head SET version = \(version), seq = \(seq), crc = \(sum)
                    WHERE activity = 3
                    """)
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
                Array(
                    EventRow.encode(
                        numbers, tenantSeq: 6, digest: 0, key: nothing, body: body, 6,
                        into: &buffer))
            }
            let hex = row.map { byte in
                let text = String(byte, radix: 16)
                return text.count == 1 ? "0" + text : text
            }.joined()
            _ = try await start(place, after: "UPDATE event SET row = x'\(hex)' WHERE seq = 6")
            let log = try place.reopen()
            let seqs = try await log.history(after: 0, limit: 100).map(\.seq)
            #expect(seqs == [1, 2, 3, 4, 5, 7, 8])
            await log.close()
        }
    }

    @Test func `what begins in the place of a damaged activity takes its head away`() async throws {
        let place = try await filled()
        shell(place, "UPDATE head SET crc = 1 WHERE activity = 3")
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
