import CSQLite
import TomboloEventLog

/// A prepared statement. It is finalised when it goes out of scope. Bytes are bound without a copy,
/// so they must stay valid until `execute` or `reset`. They are not read later, because every
/// parameter is bound again before the next run.
struct Statement: ~Copyable {
    let handle: OpaquePointer
    /// Path of the database, for errors.
    private let path: String

    init(_ handle: OpaquePointer, _ path: String) { (self.handle, self.path) = (handle, path) }

    deinit { sqlite3_finalize(handle) }

    // MARK: Parameters, counted from 1

    @inline(__always)
    func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

    func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
    }

    // MARK: Running

    /// Runs a statement that returns no rows, and resets it.
    func execute() throws(EventLogError) {
        defer { reset() }
        _ = try step()
    }

    /// Returns true if there is a row, false at the end.
    func step() throws(EventLogError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            let error = EventLogError.sqlite(sqlite3_db_handle(handle), path)
            reset()
            throw error
        }
        return false
    }

    /// Ends the reading of rows, and releases the snapshot that was read.
    func reset() { sqlite3_reset(handle) }

    // MARK: Columns of the current row, counted from 0

    @inline(__always)
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The bytes of a blob or text, in SQLite's memory: valid until the next step or reset.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        let count = sqlite3_column_bytes(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    }
}
