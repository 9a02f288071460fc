import TomboloEventLog
import TomboloLog

/// The tables of `tombolo.db`, and how a database comes to have them.
///
/// Each is ordered, key and row (`LogTable`), and has no index besides its integer key: at ten
/// million rows a random index costs thirty times the insert itself. Whatever needs to be found
/// otherwise is found from the heads (back pointers and snapshots), by what blocks of rows have in
/// common, by the hashes of a chapter of facts (`FactIndex`), or in memory.
enum LogSchema {
    /// The number in `PRAGMA user_version`.
    static let version: Int64 = 6
    /// "TMBO", in `PRAGMA application_id`.
    static let applicationID: Int64 = 0x544d_424f

    /// What a file turned out to be.
    private enum Found {
        case empty
        case ours(Int64)
        case foreign(applicationID: Int64)
    }

    /// Whether the database is new: then `make` makes its tables.
    ///
    /// What is not ours, and what another version of this program wrote, is refused and left
    /// untouched.
    static func prepare(_ connection: borrowing Connection) throws(SQLiteError) -> Bool {
        let found = try inspect(connection)
        switch found {
        case .ours(Self.version), .empty: break
        case .ours(let version):
            connection.leaveWALOnClose()
            throw SQLiteError.other(version)
        case .foreign(let applicationID):
            connection.leaveWALOnClose()
            throw SQLiteError.foreign(applicationID)
        }
        try connection.execute(durability)
        if case .empty = found { return true }
        return false
    }

    /// Makes the tables of a new database, in a transaction that it opens.
    static func make(_ connection: borrowing Connection) throws(SQLiteError) {
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute(LogTable.creations)
        try connection.execute(
            "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    }

    /// Write-ahead log, and a commit that returns only after it is on the disk. Pages of 8 KiB
    /// halve the calls to the system that a batch needs; a database that is there keeps its own.
    /// What is deleted is overwritten: it may have been somebody's.
    static let durability = """
        PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = ON
        """

    /// For those who only read: throws where it is none of ours, or of another schema.
    static func requireCurrent(
        _ connection: borrowing Connection, ofCopy: Bool = false
    ) throws(SQLiteError) {
        let found = try version(of: connection)
        if found != version { throw SQLiteError.other(found, ofCopy: ofCopy) }
    }

    /// Throws where it is none of ours.
    static func version(of connection: borrowing Connection) throws(SQLiteError) -> Int64 {
        guard try connection.integer("PRAGMA application_id") == applicationID else {
            throw SQLiteError.notOurs
        }
        return try connection.integer("PRAGMA user_version")
    }

    private static func inspect(_ connection: borrowing Connection) throws(SQLiteError) -> Found {
        let owner = try connection.integer("PRAGMA application_id")
        let version = try connection.integer("PRAGMA user_version")
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if owner == applicationID { return .ours(version) }
        return owner == 0 && version == 0 && tables == 0
            ? .empty : .foreign(applicationID: owner)
    }
}
