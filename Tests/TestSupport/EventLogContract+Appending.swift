import Testing
import TomboloCore
import TomboloEventLog

extension EventLogContract {
    static let appending = [
        EventLogContract("sequences have no gap; facts count for themselves") { place in
            let log = try await place.recovered()
            var batch = Sample.batch(
                Sample.event(1, after: 0, .start), Sample.event(1, after: 1),
                Sample.event(2, after: 0, .start))
            batch.facts = [Sample.fact("push.accepted"), Sample.fact("push.accepted")]
            let first = try await log.append(batch)
            #expect(
                first
                    == AppendReceipt(
                        firstSeq: 1, firstFactSeq: 1, tenantSeqs: [1, 2, 3],
                        tenantFactSeqs: [1, 2]))
            let second = try await log.append(Sample.batch(Sample.event(2, after: 1)))
            #expect(second == AppendReceipt(firstSeq: 4, firstFactSeq: 3, tenantSeqs: [4]))
            let empty = try await log.append(AppendBatch())
            #expect(empty == AppendReceipt(firstSeq: 5, firstFactSeq: 3))
        },

        EventLogContract("what is read is what was appended, byte for byte") { place in
            let log = try await place.recovered()
            var odd = Sample.event(
                7, after: 0, .play, at: Instant(nanoseconds: .max), key: "ключ/1")
            odd.body = Array(0...255)
            var empty = Sample.event(7, after: 1, .stop, at: Instant(nanoseconds: .min))
            empty.body = []
            let large = Sample.event(8, after: 0, body: String(repeating: "x", count: 65_536))
            _ = try await log.append(Sample.batch(odd, empty, large))
            let events = try await log.history(after: 0, limit: 10)
            #expect(events.map(\.event) == [odd, empty, large])
            #expect(events.map(\.version) == [1, 2, 1])
        },

        EventLogContract("each event knows the one before it of its activity") { place in
            let log = try await place.recovered()
            _ = try await log.append(
                Sample.batch(Sample.event(1, after: 0), Sample.event(2, after: 0)))
            _ = try await log.append(
                Sample.batch(
                    Sample.event(2, after: 1), Sample.event(1, after: 1), Sample.event(1, after: 2))
            )
            let events = try await log.history(after: 0, limit: 10)
            #expect(events.map(\.previous) == [0, 0, 2, 1, 4])
        },

        EventLogContract("those who wait are stored in the order in which they came") { place in
            let log = try await place.recovered()
            let receipts = try await withThrowingTaskGroup(of: (Int64, Int64).self) { group in
                for activity in Int64(1)...200 {
                    group.addTask {
                        let batch = Sample.batch(
                            Sample.event(activity, after: 0), Sample.event(activity, after: 1))
                        return (activity, try await log.append(batch).firstSeq)
                    }
                }
                return try await group.reduce(into: [Int64: Int64]()) { $0[$1.1] = $1.0 }
            }
            let events = try await log.history(after: 0, limit: 1_000)
            #expect(events.map(\.seq) == Array(1...400))
            for event in events where event.version == 1 {
                #expect(receipts[event.seq] == event.event.activity.rawValue)
            }
        },

        EventLogContract("a closed log takes and answers nothing") { place in
            let log = try await place.recovered()
            await log.close()
            await log.close()
            await #expect(throws: EventLogError.closed) {
                try await log.append(Sample.batch(Sample.event(1, after: 0)))
            }
            await #expect(throws: EventLogError.closed) {
                try await log.events(EventQuery(tenant: Sample.lab))
            }
        },
    ]
}
