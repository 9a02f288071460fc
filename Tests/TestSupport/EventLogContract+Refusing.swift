import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    static let refusing = [
        EventLogContract("an event that follows another version is refused") { place in
            let log = try await place.recovered()
            _ = try await log.append(Sample.batch(Sample.event(1, after: 0)))
            for (expected, actual) in [(0, 1), (2, 1)] as [(Int64, Int64)] {
                await #expect(
                    throws: EventLogError.versionConflict(
                        activity: ActivityNumber(1), expected: expected, actual: actual)
                ) {
                    try await log.append(Sample.batch(Sample.event(1, after: expected)))
                }
            }
            let next = try await log.append(Sample.batch(Sample.event(1, after: 1)))
            #expect(next.firstSeq == 2)
        },

        EventLogContract("a batch is stored whole or not at all") { place in
            let log = try await place.recovered()
            var batch = Sample.batch(
                Sample.event(1, after: 0, key: "a"), Sample.event(2, after: 0),
                Sample.event(1, after: 7))
            batch.facts = [Sample.fact("push.accepted")]
            batch.records = [Record(space: .checkpoint, number: 1, value: [1])]
            let refused = batch
            await #expect(
                throws: EventLogError.versionConflict(
                    activity: ActivityNumber(1), expected: 7, actual: 1)
            ) { try await log.append(refused) }
            #expect(try await log.history(after: 0, limit: 10).isEmpty)
            #expect(try await log.facts(FactQuery(tenant: Sample.lab)).facts.isEmpty)
            batch.events.removeLast()
            let receipt = try await log.append(batch)
            #expect(
                receipt
                    == AppendReceipt(
                        firstSeq: 1, firstFactSeq: 1, tenantSeqs: [1, 2], tenantFactSeqs: [1]))
            let recovered = try await place.open().recover()
            #expect(recovered.heads.map(\.version) == [1, 1])
        },

        EventLogContract("a key stands for its event for 24 hours, and not a nanosecond more") {
            place in
            let log = try await place.recovered()
            let key = IdempotencyKey(key: "order-1", bodyDigest: 0xfeed_face_dead_beef)
            let taken = EventLogError.duplicateKey(key, seq: 1)
            _ = try await log.append(Sample.batch(Sample.event(1, after: 0, key: "order-1")))
            let last = Sample.noon + .hours(24)
            for instant in [Sample.noon, Sample.noon + .hours(1), last] {
                await #expect(throws: taken) {
                    try await log.append(
                        Sample.batch(Sample.event(1, after: 1, at: instant, key: "order-1")))
                }
            }
            let after = last + Span(nanoseconds: 1)
            let again = try await log.append(
                Sample.batch(Sample.event(1, after: 1, at: after, key: "order-1")))
            #expect(again.firstSeq == 2)
            await #expect(throws: EventLogError.duplicateKey(key, seq: 2)) {
                try await log.append(
                    Sample.batch(Sample.event(1, after: 2, at: after, key: "order-1")))
            }
        },

        EventLogContract("a key belongs to one tenant, and stands once in a batch") { place in
            let log = try await place.recovered()
            _ = try await log.append(
                Sample.batch(
                    Sample.event(1, after: 0, key: "k"),
                    Sample.event(2, after: 0, tenant: Sample.field, key: "k")))
            await #expect(
                throws: EventLogError.duplicateKey(
                    IdempotencyKey(key: "twice", bodyDigest: 0xfeed_face_dead_beef), seq: 3)
            ) {
                try await log.append(
                    Sample.batch(
                        Sample.event(1, after: 1, key: "twice"),
                        Sample.event(1, after: 2, key: "twice")))
            }
            let once = try await log.append(Sample.batch(Sample.event(1, after: 1, key: "twice")))
            #expect(once.firstSeq == 3)
        },

        EventLogContract("a key still stands after a restart") { place in
            let log = try await place.recovered()
            _ = try await log.append(
                Sample.batch(Sample.event(1, after: 0, key: "a"), Sample.event(1, after: 1)))
            let again = try await place.recovered()
            await #expect(
                throws: EventLogError.duplicateKey(
                    IdempotencyKey(key: "a", bodyDigest: 0xfeed_face_dead_beef), seq: 1)
            ) {
                try await again.append(
                    Sample.batch(
                        Sample.event(1, after: 2, at: Sample.noon + .hours(23), key: "a")))
            }
        },
    ]
}
