import Glibc
import TomboloEventLog
import TomboloJSON
import TomboloLog
import TomboloSQLite

/// `log verify` and `backup verify`: reads a whole log and says whether it is sound.
enum LogVerifyCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        guard let data = context.invocation.text(.data) else {
            throw ProgramError.usage(
                "log verify needs --data", remedy: "tombolo log verify --data DIR")
        }
        return try verify(data, context)
    }

    /// Verifies the log in a directory and prints the verdict. Status 1 where it is not sound.
    static func verify(_ directory: String, _ context: CommandContext) throws -> ExitStatus {
        let path = directory + "/tombolo.db"
        guard access(path, R_OK) == 0 else {
            throw ProgramError(
                "\(path): \(SystemError(errno))", remedy: "name the data directory of a relay",
                status: .notFoundOrConflict)
        }
        let verdict: LogVerification.Verdict
        do {
            verdict = try LogVerification(path: path).run { events in
                guard context.terminal.errorIsTerminal else { return }
                context.terminal.draw("\r\(events) events")
            }
        } catch {
            throw ProgramError(error)
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
        guard OutputFormat(context) == .table else {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", verdict.wrongCount == 0)
            for (name, count) in counts { writer.member(name, count) }
            writer.member("wrong_count", verdict.wrongCount)
            writer.name("wrong")
            writer.beginArray()
            for line in verdict.wrong { writer.string(line) }
            writer.endArray()
            writer.endObject()
            return try context.terminal.write(writer.bytes + [10])
        }
        for line in verdict.wrong { try context.terminal.print(line) }
        let summary = counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        try context.terminal.print(
            verdict.wrongCount == 0
                ? "sound: \(summary)" : "\(verdict.wrongCount) wrong: \(summary)"
        )
    }
}
