import CSQLite

extension SimulatedDisk {
    /// Changes a database behind the back of whoever owns it; no connection may be open.
    package func execute(_ sql: String, in name: String) {
        var connection: OpaquePointer?
        guard sqlite3_open_v2(name, &connection, SQLITE_OPEN_READWRITE, vfsName) == SQLITE_OK,
            sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK
        else { preconditionFailure("\(sql): \(String(cString: sqlite3_errmsg(connection)))") }
        sqlite3_close_v2(connection)
    }
}
