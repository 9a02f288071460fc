import TomboloEventLog
import TomboloJSON
import TomboloLog

/// `log verify` and `backup verify`: read a whole log and report whether it is sound.
enum LogVerifyCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        try verify(try LogHome(context, "log verify --data DIR"), context)
    }

    /// Verifies a log and prints the result. Returns status 1 if the log is not sound.
    static func verify(_ home: LogHome, _ context: CommandContext) throws -> ExitStatus {
        try home.requireFile()
        let verdict = try LogVerification(home.reading()).run { events in
            guard context.terminal.errorIsTerminal else { return }
            context.terminal.draw("\r\(events) events")
        }
        if context.terminal.errorIsTerminal { context.terminal.draw("\r") }
        try print(verdict, context)
        return verdict.wrongCount == 0 ? .succeeded : .failed
    }

    private static func print(
        _ verdict: LogVerification.Verdict, _ context: CommandContext
    ) throws {
        let counts = [
            ("events", verdict.events), ("facts", verdict.facts), ("heads", verdict.heads),
            ("retired", verdict.retired), ("records", verdict.records), ("cut", verdict.cut),
            ("last_seq", verdict.lastSeq),
        ]
        guard context.printsTable else {
            return try context.terminal.printObject { writer in
                writer.member("ok", verdict.wrongCount == 0)
                for (name, count) in counts { writer.member(name, count) }
                writer.member("wrong_count", verdict.wrongCount)
                writer.array("wrong", of: verdict.wrong) { $0.string($1) }
            }
        }
        for line in verdict.wrong { try context.terminal.print(line) }
        let summary = counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        try context.terminal.print(
            verdict.wrongCount == 0
                ? "sound: \(summary)" : "\(verdict.wrongCount) wrong: \(summary)")
    }
}
