import Glibc
import TomboloEventLog
import TomboloLog
import TomboloPostgres
import TomboloSQLite
import TomboloServer

/// Where a relay's log is, for every command that opens it.
enum LogHome {
    case directory(String)
    case database(Configuration.Database)

    /// Nil if the configuration does not say where the log is.
    init?(_ configuration: Configuration) {
        if let database = configuration.database {
            self = .database(database)
        } else if let data = configuration.data {
            self = .directory(data)
        } else {
            return nil
        }
    }

    /// Takes the place from `--data`, `--database` or `--config`. Throws if they do not give one.
    /// The remedy then shows `example`, a complete command.
    init(_ context: CommandContext, _ example: String) throws {
        guard let home = LogHome(try ConfigurationSources(context.invocation).configuration) else {
            throw ProgramError.usage(
                "\(context.invocation.commandName) needs --data", remedy: "tombolo \(example)")
        }
        self = home
    }

    /// Opens the log. Throws `.owned` if another relay owns it.
    func open(
        retention: LogRetention = .forever, caution: LogCaution = LogCaution()
    ) throws -> (log: EngineEventLog, database: PostgresEventLog.Opened?) {
        var chance = SystemRandomNumberGenerator()
        switch self {
        case .directory(let path):
            try FileOwner.requireUse(in: path)
            let log = try SQLiteEventLog(
                directory: path, retention: retention, caution: caution, chance: &chance)
            return (log, nil)
        case .database(let database):
            let opened = try PostgresEventLog.open(
                database.postgres, pepper: try database.pepper().check, retention: retention,
                caution: caution, clock: SystemClock.sinceBoot, chance: &chance)
            return (opened.log, opened)
        }
    }

    /// Throws if the directory has no log.
    func requireFile() throws(ProgramError) {
        guard case .directory(let data) = self else { return }
        let path = data + "/tombolo.db"
        guard access(path, R_OK) != 0 else { return }
        throw ProgramError(
            "\(path): \(SystemError(errno))", remedy: "name the data directory of a relay",
            status: .notFoundOrConflict)
    }

    /// Opens the tables to read the whole log. A relay may run on it meanwhile.
    func reading() throws(EventLogError) -> any LogReading {
        switch self {
        case .directory(let path): return try SQLiteTables.reading(path + "/tombolo.db")
        case .database(let database):
            var database = database.postgres
            // A reader does not need the server to be safe against lost writes.
            database.takesUnsafeServer = true
            return try PostgresEventLog.reading(database)
        }
    }

    /// Notes in the log that it was restored now. No relay may run on it.
    func setRestored() throws {
        var chance = SystemRandomNumberGenerator()
        switch self {
        case .directory(let path):
            try requireFile()
            try LogBackup.setRestored(path, at: SystemClock().now())
        case .database(let database):
            try PostgresEventLog.setRestored(
                database.postgres, clock: SystemClock.sinceBoot, chance: &chance)
        }
    }

    /// Opens a new log to import an export.
    func importing() throws -> LogImport {
        var chance = SystemRandomNumberGenerator()
        switch self {
        case .directory(let path):
            try FileOwner.requireUse(in: path)
            return try LogImport(directory: path, chance: &chance)
        case .database(let database):
            let check = database.pepperFile.isEmpty ? nil : try database.pepper().check
            return try PostgresEventLog.importing(
                database.postgres, pepper: check, clock: SystemClock.sinceBoot, chance: &chance)
        }
    }

    /// The secret of the log's API keys. `keyCount` is the number of keys in the log.
    func pepper(keyCount: Int) throws -> Pepper {
        switch self {
        case .directory(let path):
            do {
                return try Pepper(path: path + "/" + Pepper.fileName, keyCount: keyCount)
            } catch {
                throw ProgramError("\(error)", remedy: "restore it from a backup of \(path)")
            }
        case .database(let database): return try database.pepper()
        }
    }
}

extension Configuration.Database {
    /// The existing secret. If it is missing, it is not created.
    func pepper() throws(ProgramError) -> Pepper {
        do {
            return try Pepper(path: pepperFile, keyCount: 1)
        } catch {
            throw ProgramError(
                "\(error)",
                remedy:
                    "make log and secret: tombolo log create --config FILE; or copy the file of "
                    + "another relay on that log")
        }
    }
}
