import Glibc
package import TomboloCore
package import TomboloEventLog
import TomboloLog

/// Copies of a log, made while a relay writes to it, and put back (sqlite3_backup_init and the
/// calls after it in SQLite's C interface).
package enum LogBackup {
    /// So many pages are copied before `progress` is told.
    private static let pagesAtOnce: Int32 = 2_000

    /// Copies the log in `directory`, as of this moment, to the new file at `path`; durable on
    /// return. `progress` is told pages left and pages in all.
    package static func create(
        of directory: String, at path: String, progress: (Int, Int) -> Void
    ) throws(EventLogError) {
        let source = directory + "/tombolo.db"
        do throws(SQLiteError) {
            try LogSchema.requireCurrent(try Connection(path: source, access: .reading))
        } catch {
            throw error.unusable(source)
        }
        try make(path)
        do throws(EventLogError) {
            try copy(from: source, to: path, progress: progress)
        } catch {
            remove(path)
            throw error
        }
        try sync(path)
    }

    /// Puts the copy at `path` into `directory`, where no log is and no relay runs. It is there
    /// whole or not at all. From `now` on it counts as restored: see `RecoveredLog.restoredAt`.
    ///
    /// - Parameter takesDamage: also a copy that is not sound; what is damaged is set aside when a
    ///   relay starts on it.
    package static func restore(
        _ path: String, into directory: String, at now: Instant, takesDamage: Bool = false,
        chance: inout some RandomNumberGenerator, progress: (Int, Int) -> Void
    ) throws(EventLogError) {
        let held = try DataDirectory(directory)
        defer { held.letGo() }
        guard access(held.databasePath, F_OK) != 0 else {
            throw .unusable(
                cause: "there is a log in \(directory) already",
                hint: "move it away first: mv \(directory) \(directory).before")
        }
        let draft = held.databasePath + ".restoring"
        remove(draft)
        try make(draft)
        do throws(EventLogError) {
            try copy(from: path, to: draft, progress: progress)
            try check(draft, of: path, takesDamage: takesDamage, &chance)
        } catch {
            remove(draft)
            throw error
        }
        let (engine, _) = try SQLiteEngine.writing(draft, checkpointPages: 0)
        try LogMeta.setRestored(now, engine)
        try engine.commit()
        try sync(draft)
        // An earlier log may have left files beside it.
        remove(held.databasePath)
        guard rename(draft, held.databasePath) == 0 else { throw failed(held.databasePath) }
        try sync(directory)
    }

    /// Refuses a copy of another schema, and reads all of it.
    private static func check(
        _ draft: String, of path: String, takesDamage: Bool,
        _ chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        _ = try LogWriter(path: draft, chance: &chance)
        guard !takesDamage else { return }
        let verdict = try LogVerification(path: draft).run { _ in }
        guard let first = verdict.wrong.first else { return }
        let count = verdict.wrongCount == 1 ? "" : " and \(verdict.wrongCount - 1) more"
        throw .unusable(
            cause: "\(path) is damaged: \(first)\(count)",
            hint: "restore another copy, or add --damaged: what is damaged is then set aside")
    }

    /// Refuses a source of another schema, which is a copy to restore: `create` has looked.
    private static func copy(
        from source: String, to path: String, progress: (Int, Int) -> Void
    ) throws(EventLogError) {
        do throws(SQLiteError) {
            let from = try Connection(path: source, access: .reading)
            try LogSchema.requireCurrent(from, ofCopy: true)
            // One moment for the whole copy: without it each write of the relay begins it anew.
            try from.execute("BEGIN")
            _ = try from.integer("SELECT count(*) FROM meta")
            let into = try Connection(path: path, access: .writing)
            try from.copyAll(to: into, pagesAtOnce: pagesAtOnce, progress: progress)
            try from.execute("COMMIT")
        } catch {
            throw error.unusable(source)
        }
    }

    static func make(_ path: String) throws(EventLogError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failed(path) }
        close(descriptor)
    }

    static func remove(_ path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { unlink(path + end) }
    }

    static func sync(_ path: String) throws(EventLogError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failed(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failed(path) }
    }

    static func failed(_ path: String) -> EventLogError {
        .unusable(
            cause: "\(path): \(String(cString: strerror(errno)))",
            hint: "name a place with room, where this user may write and nothing is yet")
    }
}
