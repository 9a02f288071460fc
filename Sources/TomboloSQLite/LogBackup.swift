package import TomboloCore
package import TomboloEventLog
import TomboloLog

/// Copies of a log, made while a relay writes to it, and put back (sqlite3_backup_init and the
/// calls after it in SQLite's C interface).
package enum LogBackup {
    /// Copies the log in `directory`, as of this moment, to the new file at `path`; durable on
    /// return. `progress` is told pages left and pages in all.
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
        let draft = try held.draft(
            ".restoring", hint: "move it away first: mv \(directory) \(directory).before")
        do throws(EventLogError) {
            let source = try Connection(path: path, access: .reading)
            try LogSchema.requireCurrent(source, ofCopy: true)
            try source.copy(to: draft, progress: progress)
            // As a relay would.
            _ = try LogWriter(path: draft, chance: &chance)
            if !takesDamage { try check(draft, of: path) }
            try setRestored(draft, now)
        } catch {
            LogFile.remove(draft)
            throw error
        }
        try held.place(draft)
    }

    /// The log in `directory`, which is there, counts as put back at `now`. No relay runs on it.
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
