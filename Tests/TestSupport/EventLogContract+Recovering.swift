import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    static let recovering = [
        EventLogContract("an empty log recovers to nothing") { place in
            let recovered = try await place.open().recover()
            #expect(recovered.lastSeq == 0)
            #expect(recovered.lastFactSeq == 0)
            #expect(recovered.lastActivity == 0)
            #expect(recovered.heads.isEmpty)
            #expect(recovered.records.isEmpty)
            #expect(recovered.idempotency.table.seqs.isEmpty)
            #expect(recovered.damage.isEmpty)
        },

        EventLogContract("the newest head of each activity comes back, and the log goes on") {
            place in
            let log = try await place.recovered()
            _ = try await log.append(
                Sample.batch(Sample.event(1, after: 0), Sample.event(5, after: 0)))
            var second = Sample.batch(Sample.event(1, after: 1), Sample.event(1, after: 2))
            second.heads = [
                ActivityHead(activity: ActivityNumber(1), value: [1, 1]),
                ActivityHead(activity: ActivityNumber(5), value: [5]),
            ]
            second.facts = [Sample.fact("push.accepted")]
            _ = try await log.append(second)

            let again = try await place.open()
            let recovered = try await again.recover()
            #expect(
                recovered.heads == [
                    RecoveredHead(activity: ActivityNumber(1), version: 3, seq: 4, value: [1, 1]),
                    RecoveredHead(activity: ActivityNumber(5), version: 1, seq: 2, value: [5]),
                ])
            #expect(recovered.lastSeq == 4)
            #expect(recovered.lastFactSeq == 1)
            #expect(recovered.lastActivity == 5)
            let receipt = try await again.append(Sample.batch(Sample.event(5, after: 1)))
            #expect(receipt == AppendReceipt(firstSeq: 5, firstFactSeq: 2, tenantSeqs: [5]))
            #expect(try await again.event(seq: 5, tenant: Sample.lab)?.previous == 2)
        },

        EventLogContract("records keep their newest value, in order; nil deletes") { place in
            let log = try await place.recovered()
            var batch = AppendBatch()
            batch.records = [
                Record(space: .key, number: 1 << 48 - 1, value: [9]),
                Record(space: .device, number: 2, value: [2]),
                Record(space: .device, number: 1, value: [1]),
                Record(space: .checkpoint, number: 0, value: []),
                Record(space: .device, number: 3, value: [3]),
            ]
            _ = try await log.append(batch)
            batch.records = [
                Record(space: .device, number: 1, value: [1, 1]),
                Record(space: .device, number: 3, value: nil),
                Record(space: .device, number: 4, value: nil),
            ]
            _ = try await log.append(batch)
            let recovered = try await place.open().recover()
            #expect(
                recovered.records == [
                    Record(space: .device, number: 1, value: [1, 1]),
                    Record(space: .device, number: 2, value: [2]),
                    Record(space: .checkpoint, number: 0, value: []),
                    Record(space: .key, number: 1 << 48 - 1, value: [9]),
                ])
        },

        EventLogContract("keys come back from the asked instant on") { place in
            let log = try await place.recovered()
            for hour in Int64(0)..<4 {
                _ = try await log.append(
                    Sample.batch(
                        Sample.event(
                            1, after: hour, at: Sample.noon + .hours(hour), key: "key-\(hour)")))
            }
            let since = Sample.noon + .hours(2)
            let recovered = try await place.open().recover(idempotencySince: since)
            #expect(recovered.idempotency.table.seqs == [3, 4])
            func seq(_ key: String, _ tenant: TenantID, at now: Instant) -> Int64? {
                recovered.idempotency.seq(of: key, tenant: tenant, at: now)
            }
            let now = Sample.noon + .hours(4)
            #expect(seq("key-2", Sample.lab, at: now) == 3)
            #expect(seq("key-3", Sample.lab, at: now) == 4)
            #expect(seq("key-1", Sample.lab, at: now) == nil)
            #expect(seq("key-2", Sample.field, at: now) == nil)
            #expect(seq("key-2", Sample.lab, at: since + IdempotencyKey.window) == 3)
            #expect(seq("key-2", Sample.lab, at: since + IdempotencyKey.window + .hours(1)) == nil)
        },

        EventLogContract("a wall clock that jumps ahead makes no key older") { place in
            let log = try await place.recovered()
            func batch(_ activity: Int64, _ key: String, hour: Int64, lead: Span) -> AppendBatch {
                var batch = Sample.batch(
                    Sample.event(
                        activity, after: 0, at: Sample.noon + .hours(hour) + lead, key: key))
                batch.lead = lead
                return batch
            }
            _ = try await log.append(batch(1, "first", hour: 0, lead: .zero))
            let year = Span.hours(8_760)
            _ = try await log.append(batch(2, "second", hour: 1, lead: year))
            for (hour, key) in [(Int64(23), "first"), (24, "second")] {
                await #expect(throws: EventLogError.self, "\(key)") {
                    _ = try await log.append(batch(9, key, hour: hour, lead: year))
                }
            }
            let again = try await place.open()
            let recovered = try await again.recover()
            func seq(_ key: String, hour: Int64) -> Int64? {
                recovered.idempotency.seq(
                    of: key, tenant: Sample.lab, at: Sample.noon + .hours(hour))
            }
            #expect(seq("first", hour: 24) == 1)
            #expect(seq("second", hour: 25) == 2)
            #expect(seq("second", hour: 27) == nil)
            _ = try await again.append(batch(9, "first", hour: 26, lead: year))
        },
    ]
}
