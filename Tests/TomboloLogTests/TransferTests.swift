import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog

/// Why the items are refused; nothing is left of them.
private func refusal(_ items: [LogItem], _ kind: Engine) -> String {
    var isAbandoned = false
    do {
        try LogPlace(kind).take(items) { isAbandoned = true }
        Issue.record("they are taken in")
        return ""
    } catch .unusable(let cause, _) {
        #expect(isAbandoned)
        return cause
    } catch {
        return "\(error)"
    }
}

@Suite struct TransferTests {
    /// A closed log of one activity with 1,000 events with keys, a fact and a record.
    private func filled(_ kind: Engine) async throws -> LogPlace {
        let place = LogPlace(kind)
        let log = try place.log()
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

    @Test(arguments: Engine.allCases)
    func `an export is the same of a log that was taken in, with its stones`(kind: Engine)
        async throws
    {
        let place = try await filled(kind)
        let items = try place.items()
        let copy = LogPlace(kind)
        try copy.take(items)
        #expect(try copy.items().map { "\($0)" } == items.map { "\($0)" })
        #expect(try copy.verify().wrong.allSatisfy { $0.hasPrefix("record") })
        let reader = try copy.reader()
        let found = try reader.snapshot(
            of: ActivityNumber(1), tenant: Sample.lab, at: .tenantSeq(700), newest: 1_000)
        #expect(found?.seq == 520)
        #expect(items.filter { if case .snapshot = $0 { true } else { false } }.count == 3)
    }

    @Test(arguments: Engine.allCases)
    func `an export that is cut off anywhere is refused`(kind: Engine) async throws {
        let items = try await filled(kind).items()
        for count in [1, 2, 3, 500, items.count - 1] {
            #expect(
                refusal(Array(items.prefix(count)), kind)
                    == "the export is cut off: its last line is missing")
        }
        #expect(
            refusal(Array(items.dropLast(2)) + items.suffix(1), kind).contains("says that it has"))
        #expect(refusal(items + items.suffix(1), kind).contains("something comes after the end"))
    }

    @Test(arguments: Engine.allCases)
    func `a log may have taken a key twice`(kind: Engine) async throws {
        var items = try await filled(kind).items()
        guard
            case .event(var second)? = items.first(where: {
                if case .event(let event) = $0 { event.seq == 2 } else { false }
            }), let index = items.firstIndex(where: { "\($0)" == "\(LogItem.event(second))" })
        else { throw EventLogError.closed }
        second.event.idempotency = IdempotencyKey(key: "key-0-0", bodyDigest: 1)
        items[index] = .event(second)
        let place = LogPlace(kind)
        try place.take(items)
        let log = try place.log()
        #expect(try await log.recover().lastSeq == 1_000)
        await log.close()
    }

    @Test(arguments: Engine.allCases)
    func `what no log can have is refused`(kind: Engine) async throws {
        let items = try await filled(kind).items()
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
            refusal(Array(items.dropLast()) + [.event(gap), end], kind)
                .hasSuffix("version 8 of activity 1 comes after 1000"))
        for item in hostile {
            let cause = refusal(Array(items.dropLast()) + [item], kind)
            #expect(cause.hasPrefix("item \(items.count): "), "\(item): \(cause)")
        }
    }
}
