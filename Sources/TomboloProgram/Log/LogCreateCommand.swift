import Glibc
import TomboloEventLog
import TomboloPostgres
import TomboloServer

/// `log create`: creates the tables of a log in a database, and the secret of its API keys.
enum LogCreateCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        guard
            let database = try ConfigurationSources(context.invocation).configuration.database,
            !database.pepperFile.isEmpty
        else {
            throw ProgramError.usage(
                "log create makes a log in a database, and needs a --config file that names one",
                remedy: "\"database\": {\"postgres\": {…}, \"pepper_file\": \"…\"}; "
                    + "a log in a data directory is made by serve")
        }
        let creation = try create(database)
        let text =
            switch creation {
            case .made: "the log is made"
            case .completed: "the log is there already; what this version needs is added"
            case .exists: "the log is there already"
            }
        try context.terminal.print(
            context.printsTable
                ? "\(database.postgres.title): \(text)" : "{\"created\":\(creation == .made)}")
        return .succeeded
    }

    /// Creates the log, if it does not exist. If this call made the secret file and the log cannot
    /// be created, the file is removed again. If it is unknown whether the log was created, the
    /// file stays, because the log may have its check value.
    static func create(
        _ database: Configuration.Database
    ) throws -> PostgresEventLog.Creation {
        let path = database.pepperFile
        let isOurs = access(path, F_OK) != 0
        do {
            return try PostgresEventLog.create(
                database.postgres, pepper: try Pepper(path: path, keyCount: 0).check)
        } catch EventLogError.outcomeUnknown(let cause) {
            throw ProgramError(
                "\(cause): it is not known whether the log was made; the pepper file \(path) is "
                    + "kept, because the log may have been made with it",
                remedy: "run the same command again: it makes the log, or finds it")
        } catch {
            if isOurs { unlink(path) }
            switch error {
            case let error as EventLogError: throw ProgramError(error)
            case let error as PepperError:
                throw ProgramError("\(error)", remedy: "ls -l \(path)")
            default: throw error
            }
        }
    }
}
