import Glibc
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLog
import TomboloPostgres
import TomboloProgram
import TomboloSQLite

/// `bench append`: measures how fast the log appends events on a real disk.
enum BenchAppendCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let count = invocation.integer(.benchEvents) ?? 0
        let batchCount = invocation.integer(.benchBatch) ?? 1
        let log = try log(invocation)
        do {
            let recovered = try await log.recover(
                idempotencySince: SystemClock().now() - IdempotencyKey.window)
            let events = BenchEvents(
                firstActivity: recovered.lastActivity + 1, firstSeq: recovered.lastSeq + 1,
                activities: invocation.integer(.benchActivities) ?? 1,
                isNew: invocation.isGiven(.benchNew),
                newEvery: invocation.integer(.benchNewEvery) ?? 0,
                hasKeys: invocation.isGiven(.benchIDs))
            let age = Span.hours(Int64(invocation.integer(.benchAge) ?? 0))
            let gap = Int32(invocation.integer(.benchGap) ?? 0)
            let figures = try await append(
                count, by: batchCount, of: events, aged: age, to: log
            ) { seq in
                if gap > 0 { poll(nil, 0, gap) }
                guard invocation.isGiven(.benchAcknowledged) else { return }
                try context.terminal.print(String(seq))
            }
            await log.close()
            try print(figures, context)
            return .succeeded
        } catch let error as EventLogError {
            await log.close()
            throw error
        }
    }

    /// Opens the log in the named directory or database; creates it if it is missing.
    private static func log(_ invocation: Invocation) throws -> EngineEventLog {
        var chance = SystemRandomNumberGenerator()
        if let url = invocation.text(.database) {
            let database = try Configuration.Database(url: url).postgres
            // This log has no API keys, so the pepper does not matter.
            let pepper = [UInt8](repeating: 0, count: 16)
            _ = try PostgresEventLog.create(database, pepper: pepper)
            return try PostgresEventLog.open(
                database, pepper: pepper, retention: .standard, caution: LogCaution(),
                clock: SystemClock.sinceBoot, chance: &chance
            ).log
        }
        guard let data = invocation.text(.benchData) else {
            throw ProgramError.usage(
                "append needs --data or --database",
                remedy: "tombolo-bench append --data DIR")
        }
        return try SQLiteEventLog(directory: data, retention: .standard, chance: &chance)
    }

    private struct Figures {
        var events = 0
        var nanoseconds: Int64 = 0
        var processorNanoseconds: Int64 = 0
        var batches: [Int64] = []

        /// The quantile of the batches' times in milliseconds. `share` is from 0 to 1.
        func quantile(_ share: Double) -> Double {
            let sorted = batches.sorted()
            guard !sorted.isEmpty else { return 0 }
            let index = min(sorted.count - 1, Int(Double(sorted.count) * share))
            return Double(sorted[index]) / 1e6
        }
    }

    private static func append(
        _ count: Int, by batchCount: Int, of source: BenchEvents, aged age: Span,
        to log: EngineEventLog, acknowledged: (Int64) throws -> Void
    ) async throws -> Figures {
        var figures = Figures()
        let clock = SystemClock()
        let startedAt = nanoseconds(of: CLOCK_MONOTONIC)
        let processorAt = nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID)
        var (rest, batch) = source.next(min(batchCount, count), at: clock.now() - age)
        while figures.events < count {
            figures.events += batch.events.count
            let (size, source) = (min(batchCount, count - figures.events), rest)
            // Make the next batch while the disk writes this one, as the core does.
            async let next = source.next(size, at: clock.now() - age)
            let before = nanoseconds(of: CLOCK_MONOTONIC)
            let receipt = try await log.append(batch)
            figures.batches.append(nanoseconds(of: CLOCK_MONOTONIC) - before)
            if age > .zero { _ = try await log.append(retiring(batch)) }
            try acknowledged(receipt.firstSeq + Int64(batch.events.count) - 1)
            (rest, batch) = await next
        }
        figures.nanoseconds = nanoseconds(of: CLOCK_MONOTONIC) - startedAt
        figures.processorNanoseconds = nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) - processorAt
        return figures
    }

    /// Retires each activity that the batch has started.
    private static func retiring(_ batch: AppendBatch) -> AppendBatch {
        var retiring = AppendBatch()
        for event in batch.events where event.kind == .start {
            guard let name = Identifier("bench-\(event.activity.rawValue)") else { continue }
            retiring.retired.append(
                RetiredActivity(
                    activity: event.activity, name: name, endedAt: event.recordedAt))
        }
        return retiring
    }

    private static func print(_ figures: Figures, _ context: CommandContext) throws {
        let seconds = Double(figures.nanoseconds) / 1e9
        var report = BenchReport()
        report.add("events", Double(figures.events), digits: 0)
        report.add("seconds", seconds, digits: 3)
        report.add("events_per_second", Double(figures.events) / seconds, digits: 0)
        report.add(
            "cpu_us_per_event",
            Double(figures.processorNanoseconds) / 1e3 / Double(figures.events), digits: 3)
        report.add("p50_ms", figures.quantile(0.5), digits: 3)
        report.add("p99_ms", figures.quantile(0.99), digits: 3)
        report.add("max_ms", figures.quantile(1), digits: 3)
        try report.print(context)
    }

    /// Time of a kernel clock in nanoseconds. A benchmark measures real time, not the loop's time.
    static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
