package import TomboloCore
package import TomboloEventLog
import TomboloLog

/// Backups of a log, made while a relay writes to it, and their restore (sqlite3_backup_init and
/// related calls of SQLite's C interface).
package enum LogBackup {
    /// Copies the log in `directory`, as it is at this moment, to the new file at `path`. The copy
    /// is on the disk when the call returns. `progress` gets the number of remaining and of all
    /// pages.
    package static func create(
        of directory: String, at path: String, progress: (Int, Int) -> Void
    ) throws(EventLogError) {
        let source = try Connection(path: directory + "/tombolo.db", access: .reading)
        try LogSchema.requireCurrent(source)
        try LogFile.make(path)
        do throws(EventLogError) {
            try source.copy(to: path, progress: progress)
            try LogFile.sync(path)
        } catch {
            LogFile.remove(path)
            throw error
        }
    }

    /// Restores the backup at `path` into `directory`, which must have no log and no running relay.
    /// The log is restored completely or not at all. `now` is stored as the time of the restore:
    /// see `RecoveredLog.restoredAt`.
    ///
    /// - Parameter takesDamage: true accepts a damaged backup; a relay sets its damaged rows aside.
    package static func restore(
        _ path: String, into directory: String, at now: Instant, takesDamage: Bool = false,
        chance: inout some RandomNumberGenerator, progress: (Int, Int) -> Void
    ) throws(EventLogError) {
        let held = try DataDirectory(directory)
        defer { held.letGo() }
        let draft = try held.draft(
            ".restoring", hint: "move it away first: mv \(directory) \(directory).before")
        do throws(EventLogError) {
            let source = try Connection(path: path, access: .reading)
            try LogSchema.requireCurrent(source)
            try source.copy(to: draft, progress: progress)
            // Open it as a relay would: that checks it.
            _ = try LogWriter(path: draft, chance: &chance)
            if !takesDamage { try check(draft, of: path) }
            try setRestored(draft, now)
        } catch {
            LogFile.remove(draft)
            throw error
        }
        try held.place(draft)
    }

    /// Marks the existing log in `directory` as restored at `now`. No relay may be running on it.
    package static func setRestored(
        _ directory: String, at now: Instant
    ) throws(EventLogError) {
        let held = try DataDirectory(directory)
        defer { held.letGo() }
        try setRestored(held.databasePath, now)
    }

    private static func setRestored(_ path: String, _ now: Instant) throws(EventLogError) {
        let engine = try SQLiteEngine(writing: path, checkpointPages: 0)
        try LogMeta.setRestored(now, engine)
        try engine.commit()
    }

    private static func check(_ draft: String, of path: String) throws(EventLogError) {
        let verdict = try LogVerification(path: draft).run { _ in }
        guard let first = verdict.wrong.first else { return }
        let count = verdict.wrongCount == 1 ? "" : " and \(verdict.wrongCount - 1) more"
        throw .unusable(
            cause: "\(path) is damaged: \(first)\(count)",
            hint: "restore another copy, or add --damaged: what is damaged is then set aside")
    }
}
