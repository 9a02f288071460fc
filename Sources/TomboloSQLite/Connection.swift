import CSQLite
import Glibc
import TomboloEventLog

/// A connection to a database. It closes when it goes out of scope. For one thread at a time,
/// because SQLite's own locks are disabled. Statements may outlive it: SQLite closes the database
/// when the last one is finalised.
struct Connection: ~Copyable {
    enum Access {
        case writing
        case reading
    }

    private let handle: OpaquePointer
    let path: String

    /// Opens the database at `path`. Throws if `access` is writing and the file is read-only.
    /// `vfs` names another file system, for tests.
    init(
        path: String, access: Access, vfs: String? = nil
    ) throws(EventLogError) {
        _ = Self.configured
        let flags =
            access == .writing
            ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            : SQLITE_OPEN_READONLY
        var handle: OpaquePointer?
        var code = sqlite3_open_v2(
            path, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
        // SQLite opens a read-only file too, without an error.
        if code == SQLITE_OK, access == .writing, sqlite3_db_readonly(handle, "main") == 1 {
            code = SQLITE_READONLY
        }
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw .sqlite(code, path)
        }
        (self.handle, self.path) = (handle, path)
        sqlite3_busy_timeout(handle, Self.busyMillisecondsMax)
    }

    deinit { sqlite3_close_v2(handle) }

    /// How long to wait for another program's lock on the file, such as a backup's or a shell's.
    static let busyMillisecondsMax: Int32 = 5_000

    private static let configured: Int32 = tombolo_sqlite_leave_memory_uncounted()

    /// Runs statements without results.
    func execute(_ sql: String) throws(EventLogError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw .sqlite(handle, path)
        }
    }

    func prepare(_ sql: String) throws(EventLogError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw .sqlite(handle, path) }
        return Statement(statement, path)
    }

    /// The first column of the first row; 0 if there is none or it is NULL.
    func integer(_ sql: String) throws(EventLogError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// True if no transaction is open on this connection.
    var isIdle: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// For tests: closing will leave the write-ahead log as it is.
    func leaveWALOnClose() { _ = tombolo_sqlite_no_checkpoint_on_close(handle) }

    /// After each commit, writes the number of pages in the write-ahead log to `counter`. Disables
    /// automatic checkpoints. `counter` must outlive the connection.
    func countWALPages(in counter: UnsafeMutablePointer<Int32>) {
        sqlite3_wal_hook(
            handle,
            { counter, _, _, pages in
                counter?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, counter)
    }

    /// Copies the whole database, as it is now, over the database at `path`. `progress` gets the
    /// number of remaining pages and of all pages.
    func copy(to path: String, progress: (Int, Int) -> Void) throws(EventLogError) {
        // With a transaction the copy shows one moment. Without it, each write of the relay would
        // restart the copy.
        try execute("BEGIN")
        _ = try integer("SELECT count(*) FROM sqlite_schema")
        let other = try Connection(path: path, access: .writing)
        guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw .sqlite(other.handle, path)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, Self.pagesAtOnce)
            progress(Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
        }
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else { throw .sqlite(code, path) }
        try execute("COMMIT")
    }

    /// Number of pages that are copied between two calls of `progress`.
    private static let pagesAtOnce: Int32 = 2_000

    /// Copies the write-ahead log into the database, as far as readers allow this without waiting.
    /// Returns true if all of it was copied.
    ///
    /// - Parameter milliseconds: if given, waits this long for readers and other writers, and then
    ///   empties the log's file.
    func checkpoint(truncating milliseconds: Int32? = nil) throws(EventLogError) -> Bool {
        var (pages, copied): (Int32, Int32) = (0, 0)
        if let milliseconds { sqlite3_busy_timeout(handle, milliseconds) }
        defer { sqlite3_busy_timeout(handle, Self.busyMillisecondsMax) }
        let mode = milliseconds == nil ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &copied)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw .sqlite(handle, path) }
        return code == SQLITE_OK && pages == copied
    }
}
