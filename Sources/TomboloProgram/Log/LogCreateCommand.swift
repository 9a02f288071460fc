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
        let isNew = try create(database)
        let text = isNew ? "the log is made" : "the log is there already"
        try context.terminal.print(
            context.printsTable
                ? "\(database.postgres.title): \(text)" : "{\"created\":\(isNew)}")
        return .succeeded
    }

    /// Creates the log. Returns false if it exists. If this call made the secret file and the log
    /// cannot be created, the file is removed again.
    static func create(_ database: Configuration.Database) throws -> Bool {
        let path = database.pepperFile
        let isOurs = access(path, F_OK) != 0
        do {
            return try PostgresEventLog.create(
                database.postgres, pepper: try Pepper(path: path, keyCount: 0).check)
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
