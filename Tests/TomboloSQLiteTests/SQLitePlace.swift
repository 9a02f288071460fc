import Glibc
import Synchronization
import TestSupport
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// A directory of its own, gone with the value; opening again closes what was open.
final class SQLitePlace: EventLogPlace {
    let directory: String
    private let newest = Mutex<SQLiteEventLog?>(nil)

    init() {
        var template = Array("/tmp/tombolo-log-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        precondition(made != nil, "/tmp takes directories")
        directory = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit {
        // Drops the log, if one is open, before its files go.
        newest.withLock { $0 = nil }
        for file in [
            "tombolo.db", "tombolo.db-wal", "tombolo.db-shm", "tombolo.lock", "tombolo.ballast",
        ] {
            unlink("\(directory)/\(file)")
        }
        rmdir(directory)
    }

    func open() async throws -> any EventLog {
        await newest.withLock { $0.take() }?.close()
        let log = try reopen()
        newest.withLock { $0 = log }
        return log
    }

    /// A log that the caller holds alone.
    func reopen() throws -> SQLiteEventLog {
        var chance = SplitMix64(seed: 1)
        return try SQLiteEventLog(directory: directory, chance: &chance)
    }
}
