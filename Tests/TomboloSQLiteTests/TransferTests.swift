import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

/// Takes items into a new log, and answers where it is.
private func taken(_ items: [LogItem], into place: SQLitePlace = SQLitePlace()) throws
    -> SQLitePlace
{
    var chance = SplitMix64(seed: 2)
    let taking = try LogImport(directory: place.directory, chance: &chance)
    for item in items { try taking.take(item) }
    try taking.finish()
    return place
}

private func items(_ place: SQLitePlace) throws -> [LogItem] {
    var items: [LogItem] = []
    try LogExport(path: place.directory + "/tombolo.db").run { items.append($0) }
    return items
}

/// Why the items are refused; nothing is left of them.
private func refusal(_ items: [LogItem]) -> String {
    let place = SQLitePlace()
    do {
        _ = try taken(items, into: place)
        Issue.record("they are taken in")
        return ""
    } catch EventLogError.unusable(let cause, _) {
        #expect(access(place.directory + "/tombolo.db", F_OK) != 0)
        #expect(access(place.directory + "/tombolo.db.importing", F_OK) != 0)
        return cause
    } catch {
        return "\(error)"
    }
}

@Suite struct TransferTests {
    /// A closed log of one activity with 1,000 events with keys, a fact and a record.
    private func filled() async throws -> SQLitePlace {
        let place = SQLitePlace()
        let log = try place.reopen()
        var activities = SampleActivities()
        for round in 0..<100 {
            let events = (0..<10).map {
                activities.next(1, "{\"r\":\(round)}", at: Sample.noon, key: "key-\(round)-\($0)")
            }
            var batch = activities.batch(events)
            if round == 0 {
                batch.facts = [Sample.fact("push.accepted", activity: 1)]
                batch.records = [Record(space: .device, number: 1, value: Array("{}".utf8))]
            }
            _ = try await log.append(batch)
        }
        await log.close()
        return place
    }

    @Test func `an export is the same of a log that was taken in, with its stones`() async throws {
        let place = try await filled()
        let items = try items(place)
        let copy = try taken(items)
        #expect(try TomboloSQLiteTests.items(copy).map { "\($0)" } == items.map { "\($0)" })
        let path = copy.directory + "/tombolo.db"
        #expect(
            try LogVerification(path: path).run { _ in }.wrong.allSatisfy { $0.hasPrefix("record") }
        )
        let reader = try LogReader(path: path, damage: DamageList())
        let found = try reader.snapshot(
            of: ActivityNumber(1), tenant: Sample.lab, at: .tenantSeq(700), newest: 1_000)
        #expect(found?.seq == 520)
        #expect(items.filter { if case .snapshot = $0 { true } else { false } }.count == 3)
    }

    @Test func `an export that is cut off anywhere is refused`() async throws {
        let items = try items(try await filled())
        for count in [1, 2, 3, 500, items.count - 1] {
            #expect(
                refusal(Array(items.prefix(count)))
                    == "the export is cut off: its last line is missing")
        }
        #expect(refusal(Array(items.dropLast(2)) + items.suffix(1)).contains("says that it has"))
        #expect(refusal(items + items.suffix(1)).contains("something comes after the end"))
    }

    @Test func `a log may have taken a key twice`() async throws {
        var items = try items(try await filled())
        guard
            case .event(var second)? = items.first(where: {
                if case .event(let event) = $0 { event.seq == 2 } else { false }
            }), let index = items.firstIndex(where: { "\($0)" == "\(LogItem.event(second))" })
        else { throw EventLogError.closed }
        second.event.idempotency = IdempotencyKey(key: "key-0-0", bodyDigest: 1)
        items[index] = .event(second)
        let log = try taken(items).reopen()
        #expect(try await log.recover().lastSeq == 1_000)
        await log.close()
    }

    @Test func `what no log can have is refused`() async throws {
        let items = try items(try await filled())
        let far = Int64.max
        let hostile: [LogItem] = [
            .identity(hashKey: [1], restoredAt: nil), .identity(hashKey: [1, 2], restoredAt: nil),
            .cut(seq: far, fact: 0, activity: 0), .cut(seq: 0, fact: .min, activity: 0),
            .cut(seq: 0, fact: 0, activity: 0), .lead(event: 0, fact: 0, seconds: .min),
            .record(Record(space: .device, number: -1, value: [])),
            .record(Record(space: .device, number: far, value: [])),
            .tally(Sample.lab, event: far, fact: 0),
            .head(
                RecoveredHead(activity: ActivityNumber(1), version: far, seq: 1, value: []),
                Sample.lab, retiredDay: nil),
            .head(
                RecoveredHead(activity: ActivityNumber(1), version: 1, seq: 1, value: []),
                Sample.lab, retiredDay: -5),
            .head(
                RecoveredHead(activity: ActivityNumber(1), version: 1, seq: 1, value: []),
                Sample.field, retiredDay: nil),
            .event(
                RecordedEvent(
                    seq: 1_001, tenantSeq: .min, previous: 1_000,
                    event: Sample.event(1, after: 1_000))),
            .event(
                RecordedEvent(
                    seq: 1_001, tenantSeq: 1_001, previous: 1_000,
                    event: Sample.event(1, after: .min))),
            .event(
                RecordedEvent(
                    seq: 1_001, tenantSeq: 1_001, previous: 1_000,
                    event: Sample.event(
                        1, after: 1_000, key: String(repeating: "k", count: 65_536)))),
            .fact(
                RecordedFact(
                    seq: 2, tenantSeq: 2,
                    fact: Sample.fact(String(repeating: "k", count: 65_536)))),
            .event(
                RecordedEvent(
                    seq: 1_001, tenantSeq: 1_001, previous: 1_000,
                    event: Sample.event(1, after: LogTable.numberMax))),
            .snapshot(ActivityNumber(2), value: [], seq: 1_000),
        ]
        let gap = RecordedEvent(
            seq: 1_001, tenantSeq: 1_001, previous: 1_000, event: Sample.event(1, after: 7))
        let end = LogItem.end(items: Int64(items.count))
        #expect(
            refusal(Array(items.dropLast()) + [.event(gap), end])
                .hasSuffix("version 8 of activity 1 comes after 1000"))
        for item in hostile {
            let cause = refusal(Array(items.dropLast()) + [item])
            #expect(cause.hasPrefix("item \(items.count): "), "\(item): \(cause)")
        }
    }

    @Test func `what an earlier log left beside it is not taken for the new one's`() async throws {
        let items = try items(try await filled())
        let place = SQLitePlace()
        mkdir(place.directory, 0o700)
        for end in ["-wal", "-shm", "-journal"] {
            let file = try #require(fopen(place.directory + "/tombolo.db" + end, "w"))
            fputs("not its own", file)
            fclose(file)
        }
        _ = try taken(items, into: place)
        for end in ["-wal", "-shm", "-journal"] {
            #expect(access(place.directory + "/tombolo.db" + end, F_OK) != 0)
        }
    }
}
