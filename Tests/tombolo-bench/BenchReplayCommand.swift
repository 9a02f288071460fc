import Glibc
import TomboloEventLog
import TomboloLog
import TomboloProgram
import TomboloSQLite

/// `bench replay`: measures how fast history is read.
enum BenchReplayCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let data = try context.invocation.needed(.benchData, like: "replay --data DIR")
        let start = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC)
        let counts = try LogReplay(path: data + "/tombolo.db").run()
        let taken = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC) - start
        var report = BenchReport()
        report.add("events", Double(counts.events), digits: 0)
        report.add("broken", Double(counts.broken), digits: 0)
        report.add("seconds", Double(taken) / 1e9, digits: 3)
        report.add("events_per_second", Double(counts.events) / Double(taken) * 1e9, digits: 0)
        try report.print(context)
        return counts.broken == 0 ? .succeeded : .failed
    }
}
