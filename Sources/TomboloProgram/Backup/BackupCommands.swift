import Glibc
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLog
import TomboloSQLite
import TomboloServer

/// `backup`: copies the log as it is at one moment, and the secret of its API keys, to a directory.
enum BackupCommands {
    static func create(_ context: CommandContext) async throws -> ExitStatus {
        guard
            case .directory(let data) = try LogHome(
                context, "backup create DIR --data /var/lib/tombolo")
        else {
            throw ProgramError.usage(
                "a log in a database is copied by the database's own tools",
                remedy:
                    "pg_dump --schema, or the server's backups; tombolo log export --config FILE "
                    + "has it as lines; and keep a copy of the pepper file")
        }
        let place = context.invocation.arguments[0]
        guard mkdir(place, 0o700) == 0 else {
            let error = SystemError(errno)
            throw ProgramError(
                "\(place) cannot be made: \(error)",
                remedy: error.number == EEXIST
                    ? "name a directory that is not there yet"
                    : "name one in a directory that exists, and that you may write to",
                status: .notFoundOrConflict)
        }
        do {
            try copyPepper(from: data, to: place)
            try LogBackup.create(of: data, at: place + "/tombolo.db", progress: progress(context))
        } catch let error as EventLogError {
            unlink(place + "/" + Pepper.fileName)
            rmdir(place)
            throw error
        }
        let verdict = soundness(of: place)
        try report(context, "backup", place, verdict)
        guard verdict.wrong.isEmpty else {
            for line in verdict.wrong { context.terminal.complain("tombolo: \(line)\n") }
            let more = verdict.wrongCount - verdict.wrong.count
            if more > 0 { context.terminal.complain("tombolo: and \(more) more\n") }
            context.terminal.complain(
                "tombolo: the copy is made, and is damaged as the log is; keep older copies\n"
                    + "  try: tombolo backup verify DIR on an older copy, to find one that is sound\n"
            )
            return .partly
        }
        return .succeeded
    }

    /// Verifies the copy at once, so that a damaged log is noticed on the day of its backup.
    private static func soundness(of place: String) -> LogVerification.Verdict {
        do throws(EventLogError) {
            return try LogVerification(path: place + "/tombolo.db").run { _ in }
        } catch {
            var verdict = LogVerification.Verdict()
            let error = ProgramError(error)
            verdict.add("the copy cannot be verified: \(error.cause)")
            return verdict
        }
    }

    static func restore(_ context: CommandContext) async throws -> ExitStatus {
        let data = try context.invocation.needed(
            .data, like: "backup restore DIR --data /var/lib/tombolo")
        let place = context.invocation.arguments[0]
        var chance = SystemRandomNumberGenerator()
        try LogBackup.restore(
            place + "/tombolo.db", into: data, at: SystemClock().now(),
            takesDamage: context.invocation.isGiven(.damaged), chance: &chance,
            progress: progress(context))
        try copyPepper(from: place, to: data)
        var keys = await keys(in: data, context)
        let lacksPepper = !keys.isEmpty && !Self.hasPepper(data)
        if lacksPepper { keys = [] }
        try report(context, "restored", data) { $0.array("keys", of: keys) { $0.string($1.id) } }
        guard !lacksPepper else {
            context.terminal.complain(
                "tombolo: the copy has no file \(Pepper.fileName) of \(Pepper.byteCount) bytes: no API "
                    + "key of it opens\n"
                    + "  try: copy \(Pepper.fileName) of the old data directory into \(data)\n")
            return .partly
        }
        guard !keys.isEmpty, context.printsTable else { return .succeeded }
        context.terminal.complain(
            "These API keys open, also those that were deleted after the copy:\n")
        for key in keys {
            let words = [
                key.id, "tenant \(key.tenant.name.rawValue)", "scopes " + key.scopesText,
                key.traits.name ?? "",
            ]
            context.terminal.complain("  \(words.joined(separator: "  "))\n")
        }
        return .succeeded
    }

    /// The API keys that are valid in a log without a running relay. If they cannot be read, prints
    /// the reason; the log is restored nevertheless.
    private static func keys(in data: String, _ context: CommandContext) async -> [KeyRecord] {
        var chance = SystemRandomNumberGenerator()
        do throws(EventLogError) {
            let log = try SQLiteEventLog(directory: data, chance: &chance)
            let keys: [KeyRecord]
            do throws(EventLogError) {
                keys = try await AccessControl.keysThatOpen(in: log, at: SystemClock().now())
            } catch {
                await log.close()
                throw error
            }
            await log.close()
            return keys
        } catch {
            let cause = ProgramError(error).cause
            context.terminal.complain("tombolo: which API keys open cannot be read: \(cause)\n")
            return []
        }
    }

    static func verify(_ context: CommandContext) async throws -> ExitStatus {
        try LogVerifyCommand.verify(.directory(context.invocation.arguments[0]), context)
    }

    /// Copies the secret without which the API keys in the log are useless. Does nothing if
    /// `source` has no secret, because a log that never had keys has none.
    static func copyPepper(from source: String, to target: String) throws(ProgramError) {
        do {
            let bytes = try FileBytes.read(source + "/" + Pepper.fileName)
            try FileBytes.write(bytes, to: target + "/" + Pepper.fileName)
        } catch {
            guard error.number != ENOENT else { return }
            throw ProgramError(
                "the file \(Pepper.fileName) could not be copied from \(source): \(error)",
                remedy: "copy it by hand: without it no API key is accepted")
        }
    }

    static func hasPepper(_ data: String) -> Bool {
        // It does not matter why reading failed: without the secret no key is valid.
        (try? FileBytes.read(data + "/" + Pepper.fileName))?.count == Pepper.byteCount
    }

    private static func progress(_ context: CommandContext) -> (Int, Int) -> Void {
        let terminal = context.terminal
        return { left, all in
            guard terminal.errorIsTerminal, all > 0 else { return }
            terminal.draw("\r\((all - left) * 100 / all) %")
        }
    }

    private static func report(
        _ context: CommandContext, _ name: String, _ path: String,
        _ verdict: LogVerification.Verdict? = nil, more: (inout JSONWriter) -> Void = { _ in }
    ) throws {
        guard !context.printsTable else { return try context.terminal.print(path) }
        try context.terminal.printObject { writer in
            writer.member(name, path)
            if let verdict {
                writer.member("ok", verdict.wrongCount == 0)
                writer.member("wrong_count", verdict.wrongCount)
            }
            more(&writer)
        }
    }
}
