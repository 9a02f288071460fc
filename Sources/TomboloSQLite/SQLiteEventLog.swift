import TomboloCore
package import TomboloEventLog
package import TomboloLog

/// The default log: one SQLite database in one directory.
///
/// Two relays cannot write to one directory, and a killed relay never blocks the next one.
/// Acknowledged batches survive `kill -9`, and loss of power on a disk that honours fsync. They do
/// not survive the loss of the disk: see `LogBackup`.
///
/// ```swift
/// let log = try SQLiteEventLog(directory: directory, chance: &chance)
/// let found = try await log.recover(idempotencySince: .distantPast)  // before the first append
/// _ = try await log.append(batch)
/// await log.close()
/// ```
package typealias SQLiteEventLog = EngineEventLog

extension EngineEventLog {
    /// Opens the log in `directory`, or creates both. `chance` makes the hash key of a new log.
    /// Throws `.owned` if another relay has the log open, and `.unusable` if it has a newer schema
    /// or belongs to another program, or if the file system returns an error.
    package convenience init(
        directory: String, retention: LogRetention = .forever, caution: LogCaution = LogCaution(),
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        let room = DiskRoom(directory: directory)
        let held = try DataDirectory(directory)
        // On a full disk, delete the ballast: accepted events must still be delivered.
        if room.isFull { _ = room.makeRoom() }
        let (path, damage) = (held.databasePath, DamageList())
        let (writer, reader, lookup): (LogWriter, LogReader, LogReader)
        do throws(EventLogError) {
            try held.createDatabase()
            writer = try LogWriter(
                path: path, retention: retention, caution: caution, chance: &chance)
            reader = try LogReader(path: path, window: writer.window, damage: damage)
            lookup = try LogReader(path: path, window: writer.window, damage: damage)
        } catch {
            throw room.explaining(error)
        }
        room.fillBallast()
        try self.init(
            writer, reading: reader, looking: lookup, damage: damage, lastRun: held.lastRun,
            room: room, closed: { held.letGo() })
    }
}

// `vfs` names another file system, for tests.

extension LogWriter {
    /// At this number of pages, the write-ahead log is copied into the database: 32 MB. With fewer
    /// than 4,062 pages its index is one page of shared memory, which exists from the start. So a
    /// full disk cannot make it fail later.
    package static let checkpointPages: Int32 = 4_000

    /// Opens or creates the database at `path`. `chance` makes the hash key of a new one.
    package convenience init(
        path: String, vfs: String? = nil, isDraft: Bool = false,
        checkpointPages: Int32 = LogWriter.checkpointPages, retention: LogRetention = .forever,
        caution: LogCaution = LogCaution(), chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        let engine = try SQLiteEngine(
            writing: path, vfs: vfs, isDraft: isDraft, checkpointPages: checkpointPages)
        try self.init(
            engine, isNew: engine.isNew, retention: retention, caution: caution, chance: &chance)
    }
}

extension LogReader {
    /// Opens the database at `path`, which a writer holds open. Damaged rows are added to `damage`.
    package convenience init(
        path: String, vfs: String? = nil, window: LogWindow? = nil, damage: DamageList
    ) throws(EventLogError) {
        try self.init(SQLiteEngine(reading: path, vfs: vfs), window: window, damage: damage)
    }
}

/// Opens the log's tables in a file, to read all of them.
package enum SQLiteTables {
    /// Opens the existing database at `path`, and changes nothing in it.
    package static func reading(_ path: String) throws(EventLogError) -> any LogReading {
        try SQLiteEngine(reading: path)
    }
}

extension LogVerification {
    /// Opens the existing database at `path`, and changes nothing in it.
    package convenience init(path: String, vfs: String? = nil) throws(EventLogError) {
        self.init(try SQLiteEngine(reading: path, vfs: vfs))
    }
}

extension LogReplay {
    /// Opens the existing database at `path`.
    package convenience init(path: String) throws(EventLogError) {
        self.init(try SQLiteEngine(reading: path))
    }
}

extension LogImport {
    /// Creates the log in `directory`, which must have none.
    package convenience init(
        directory: String, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        let held = try DataDirectory(directory)
        let draft = try held.draft(
            DataDirectory.importEnd, hint: "import into a directory of its own: --data DIR")
        let writer = try LogWriter(path: draft, isDraft: true, chance: &chance)
        try self.init(
            writer,
            finished: { () throws(EventLogError) in
                try held.place(draft)
                held.letGo()
            }, abandoned: { LogFile.remove(draft) })
    }
}
