import CSQLite

extension SimulatedDisk {
    /// Changes a database behind its owner's back, on a disk that may be full, fail or be empty; no
    /// connection may be open. Answers what went wrong.
    package func tryToExecute(_ sql: String, in name: String) -> String? {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        guard sqlite3_open_v2(name, &connection, SQLITE_OPEN_READWRITE, vfsName) == SQLITE_OK,
            sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
        else { return String(cString: sqlite3_errmsg(connection)) }
        return nil
    }
}
