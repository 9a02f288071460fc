import Glibc
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloProgram
import TomboloSQLite

/// `bench page`: measures how long a reader waits for a page, at places all over the log.
enum BenchPageCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let data = try context.invocation.needed(.benchData, like: "page --data DIR")
        let pages = context.invocation.integer(.benchPages) ?? 1
        let reader = try LogReader(path: data + "/tombolo.db", damage: DamageList())
        var measured = Measured(reader: reader, tenant: .main, pages: pages)
        try measured.run()
        try measured.report.print(context)
        return .succeeded
    }

    private struct Measured {
        let reader: LogReader
        let tenant: TenantID
        let pages: Int
        var report = BenchReport()

        mutating func run() throws(EventLogError) {
            let all = EventQuery(tenant: tenant)
            guard let first = try reader.events(all).events.first,
                let newest = try lastEvent()
            else { return }
            let last = newest.seq
            report.add("events", Double(last), digits: 0)
            try measure("kind_that_never_was_ms", last) { query, _ in query.kind = .play }
            try measure("rare_kind_ms", last) { query, _ in query.kind = .start }
            let span = newest.event.recordedAt - first.event.recordedAt
            try measure("of_a_time_ms", last) { query, share in
                query.after = 0
                let at = Span(nanoseconds: Int64(Double(span.nanoseconds) * share))
                query.from = first.event.recordedAt + at
                query.until = query.from.map { $0 + .seconds(1) }
            }
            let activity = newest.event.activity
            try measure("of_an_activity_ms", last) { query, _ in query.activity = activity }
            try measure("of_an_activity_with_hint_ms", last) { query, _ in
                (query.activity, query.newest) = (activity, last)
            }
            try measureStates(of: activity, last)
        }

        private func lastEvent() throws(EventLogError) -> RecordedEvent? {
            let last = try reader.lastSequence()
            return try reader.history(after: last - 1, limit: 1).last
        }

        /// Reports the slowest of `pages` pages, which begin at places spread over the whole log.
        private mutating func measure(
            _ name: String, _ last: Int64, _ change: (inout EventQuery, Double) -> Void
        ) throws(EventLogError) {
            var slowest: Int64 = 0
            for page in 0..<pages {
                let share = Double(page) / Double(pages)
                var query = EventQuery(tenant: tenant)
                query.after = Int64(Double(last) * share)
                change(&query, share)
                let before = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC)
                _ = try reader.events(query)
                let taken = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC) - before
                slowest = max(slowest, taken)
            }
            report.add(name, Double(slowest) / 1e6, digits: 3)
        }

        /// Reports the slowest read of an activity's state, at moments spread over the whole log.
        private mutating func measureStates(
            of activity: ActivityNumber, _ last: Int64
        ) throws(EventLogError) {
            var slowest: Int64 = 0
            for index in 1...pages {
                let moment = LogMoment.tenantSeq(last * Int64(index) / Int64(pages))
                let before = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC)
                var fold = ActivityFold()
                var query = EventQuery(tenant: tenant)
                (query.activity, query.newest, query.limit) = (activity, last, 256)
                if let known = try reader.snapshot(
                    of: activity, tenant: tenant, at: moment, newest: last),
                    let begun = ActivityFold(known.value, version: known.version, seq: known.seq)
                {
                    (fold, query.after) = (begun, known.tenantSeq)
                }
                for event in try reader.events(query).events
                where moment.includes(
                    tenantSeq: event.tenantSeq, recordedAt: event.event.recordedAt)
                {
                    _ = fold.apply(event)
                }
                let taken = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC) - before
                slowest = max(slowest, taken)
            }
            report.add("state_of_the_past_ms", Double(slowest) / 1e6, digits: 3)
        }
    }
}
