import CSQLite

/// One prepared statement, finalised when it goes out of scope.
///
/// Bytes are bound without a copy: they must stay where they are until `run` or `reset`, and are
/// never looked at afterwards, as every parameter is bound again before the next run.
struct Statement: ~Copyable {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    // MARK: Parameters, counted from 1

    @inline(__always)
    func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

    func bindNull(at index: Int32) { sqlite3_bind_null(handle, index) }

    func bind(_ value: Int64?, at index: Int32) {
        if let value { bind(value, at: index) } else { bindNull(at: index) }
    }

    @inline(__always)
    func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_zeroblob(handle, index, 0)
            return
        }
        sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil)
    }

    func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_text(handle, index, "", 0, nil)
            return
        }
        sqlite3_bind_text64(
            handle, index, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), nil,
            UInt8(SQLITE_UTF8))
    }

    // MARK: Running

    /// Steps once and resets: for statements without rows. SQLITE_DONE is success.
    func run() -> Int32 {
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        return code
    }

    /// The same, for those who hold no bytes in a closure.
    func execute() throws(SQLiteError) { try check(run()) }

    /// Throws unless `code`, the answer of `run`, is success.
    func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            throw SQLiteError(sqlite3_db_handle(handle))
        }
    }

    /// True where there is a row, false at the end.
    func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            let error = SQLiteError(sqlite3_db_handle(handle))
            sqlite3_reset(handle)
            throw error
        }
        return false
    }

    /// Ends the walk over rows, and with it the snapshot that was read.
    func reset() { sqlite3_reset(handle) }

    // MARK: Columns of the present row, counted from 0

    @inline(__always)
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    /// The bytes of a blob or text, SQLite's own: valid until the next step or reset.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, column)
        let count = sqlite3_column_bytes(handle, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    }
}
