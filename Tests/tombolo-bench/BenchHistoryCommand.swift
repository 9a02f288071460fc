import Glibc
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLog
import TomboloProgram
import TomboloSQLite

/// `bench history`: measures what it costs to write facts, and to read a page of them.
enum BenchHistoryCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let data = try invocation.needed(.benchData, like: "history --data DIR")
        let count = Int64(invocation.integer(.historyFacts) ?? 0)
        let batch = Int64(invocation.integer(.benchBatch) ?? 1)
        var report = BenchReport()
        try await write(count, by: batch, to: data, &report)
        report.add("disk_bytes_per_fact", try bytesPerFact(data), digits: 0)
        var measured = Measured(
            reader: try LogReader(path: data + "/tombolo.db", damage: DamageList()),
            pages: invocation.integer(.benchPages) ?? 1, report: report)
        try measured.run()
        try measured.report.print(context)
        return .succeeded
    }

    private static func write(
        _ count: Int64, by batchCount: Int64, to data: String, _ report: inout BenchReport
    ) async throws {
        var chance = SystemRandomNumberGenerator()
        let log = try SQLiteEventLog(directory: data, chance: &chance)
        let last = try await log.recover(idempotencySince: .distantPast).lastFactSeq
        let source = BenchFacts(first: last + 1)
        var (written, made): (Int64, Int64) = (0, 0)
        let startedAt = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC)
        let processorAt = BenchAppendCommand.nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID)
        while written < count {
            let madeAt = BenchAppendCommand.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
            let batch = source.batch(written..<min(count, written + batchCount))
            made += BenchAppendCommand.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - madeAt
            _ = try await log.append(batch)
            written += Int64(batch.facts.count)
        }
        let processor = BenchAppendCommand.nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) - processorAt
        let seconds = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC) - startedAt
        await log.close()
        report.add("facts", Double(last + written), digits: 0)
        guard written > 0 else { return }
        report.add("facts_per_second", Double(written) / Double(seconds) * 1e9, digits: 0)
        report.add("cpu_us_per_fact", Double(processor - made) / 1e3 / Double(written), digits: 3)
    }

    private static func bytesPerFact(_ data: String) throws(EventLogError) -> Double {
        var status = stat()
        guard stat(data + "/tombolo.db", &status) == 0 else { return 0 }
        let reader = try LogReader(path: data + "/tombolo.db", damage: DamageList())
        var query = FactQuery(tenant: .main)
        (query.order, query.limit) = (.newestFirst, 1)
        return Double(status.st_size) / Double(try reader.facts(query).facts.first?.seq ?? 1)
    }

    private struct Measured {
        let reader: LogReader
        let pages: Int
        var report: BenchReport

        mutating func run() throws(EventLogError) {
            var query = FactQuery(tenant: .main)
            (query.order, query.limit) = (.newestFirst, 1)
            guard let newest = try reader.facts(query).facts.first else { return }
            let parts = Int64(pages) + 1
            try measure("newest") { _, _ in }
            try measure("activity_common") { query, _ in
                query.activity = BenchFacts.commonActivity
            }
            try measure("activity") { query, page in
                query.activity = ActivityNumber(BenchFacts.commonActivity.rawValue + 7 + page * 997)
            }
            try measure("activity_rare") { query, _ in query.activity = BenchFacts.rareActivity }
            try measure("activity_long_ago") { query, _ in query.activity = BenchFacts.oldActivity }
            try measure("device") { query, page in
                query.recipient = BenchFacts.device(1 + page * 997).map(Recipient.device)
            }
            try measure("device_and_kind") { query, page in
                query.recipient = BenchFacts.device(1 + page * 997).map(Recipient.device)
                query.kinds = [BenchFacts.rareKind]
            }
            try measure("time") { query, page in
                let place = newest.seq * (page + 1) / parts
                query.from = BenchFacts.recordedAt(place)
                query.until = BenchFacts.recordedAt(place) + .minutes(1)
            }
            try measure("kind_rare") { query, _ in query.kinds = [BenchFacts.rareKind] }
            try measure("kind_that_never_was") { query, _ in query.kinds = ["never"] }
            try measure("place") { query, page in
                let place = newest.tenantSeq * (page + 1) / parts
                (query.after, query.before, query.limit) = (place - 1, place + 1, 1)
            }
        }

        /// Reports the thread's CPU time for the slowest page, and the number of facts in this
        /// page.
        private mutating func measure(
            _ name: String, _ change: (inout FactQuery, Int64) -> Void
        ) throws(EventLogError) {
            var slowest: (taken: Int64, facts: Int) = (0, 0)
            for page in 0..<Int64(pages) {
                var query = FactQuery(tenant: .main)
                query.order = .newestFirst
                change(&query, page)
                // The first query of a kind prepares its statements, so it is not measured.
                if page == 0 { _ = try reader.facts(query) }
                let before = BenchAppendCommand.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
                let found = try reader.facts(query)
                let taken = BenchAppendCommand.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - before
                if taken > slowest.taken { slowest = (taken, found.facts.count) }
            }
            report.add("\(name)_ms", Double(slowest.taken) / 1e6, digits: 3)
            report.add("\(name)_facts", Double(slowest.facts), digits: 0)
        }
    }
}

/// Facts like those that a relay writes about pushes, of 100,000 activities and as many devices.
struct BenchFacts {
    /// One fact in a hundred is about this activity.
    static let commonActivity = ActivityNumber(1)
    /// One fact in a million is about this activity.
    static let rareActivity = ActivityNumber(200_001)
    /// Only some of the first ten thousand facts are about this activity.
    static let oldActivity = ActivityNumber(200_002)
    /// One fact in a hundred thousand has this kind.
    static let rareKind = "push.refused"

    private static let subjects: UInt64 = 100_000

    let first: Int64

    static func device(_ number: Int64) -> Identifier? { Identifier("phone-\(number)") }

    /// Time of a fact. Ten million facts span a week.
    static func recordedAt(_ seq: Int64) -> Instant {
        Instant(seconds: 1_790_000_000) + .milliseconds(60 * seq)
    }

    /// The facts whose offsets from `first` are in `range`.
    func batch(_ range: Range<Int64>) -> AppendBatch {
        var batch = AppendBatch()
        batch.facts.reserveCapacity(range.count)
        for index in range { batch.facts.append(fact(first + index)) }
        return batch
    }

    /// Maps the number to a subject, pseudo-randomly.
    private static func scattered(_ number: Int64) -> Int64 {
        var word = UInt64(bitPattern: number) &* 0x9e37_79b9_7f4a_7c15
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        return Int64((word ^ word >> 31) % subjects)
    }

    private func fact(_ seq: Int64) -> NewFact {
        var activity = ActivityNumber(2 + Self.scattered(seq))
        if seq % 100 == 1 { activity = Self.commonActivity }
        if seq % 1_000_000 == 17 { activity = Self.rareActivity }
        if seq < 10_000, seq % 100 == 3 { activity = Self.oldActivity }
        let device = 1 + Self.scattered(-seq)
        let recipient = Self.device(device).map(Recipient.device)
        var writer = recipient.map(FactRecipient.body) ?? JSONWriter()
        writer.member("event", "update")
        writer.member("version", seq % 500)
        writer.member("from", max(0, seq % 500 - 2))
        writer.member("route", "update_token")
        writer.member("priority", 10)
        writer.member("bytes", 300 + seq % 200)
        writer.member("status", 200)
        writer.member("apns_id", "9b2f1c04-7d5e-8a61-b3c2-\(100_000_000_000 + seq)")
        writer.member("waited_ms", 1_200 + seq % 800)
        writer.member("took_us", 41_235)
        writer.object("held") { $0.member("spacing", 1_200) }
        writer.endObject()
        return NewFact(
            tenant: .main, activity: activity,
            kind: seq % 100_000 == 99 ? Self.rareKind : "push.accepted",
            recordedAt: Self.recordedAt(seq), body: writer.bytes)
    }
}
