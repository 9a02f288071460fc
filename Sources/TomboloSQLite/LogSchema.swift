import CSQLite
import TomboloEventLog
import TomboloLog

/// The tables of `tombolo.db`, and their creation.
///
/// Each table has an integer key and a row (`LogTable`), in the order of the keys, and no other
/// index: with ten million rows, an insert into an index in random order would take thirty times as
/// long. Other searches use the heads (which point back to older rows and to snapshots), the
/// summaries of blocks, the hashes of a chapter of facts (`FactIndex`), or memory.
enum LogSchema {
    /// Value of `PRAGMA user_version`.
    static let version = LogTable.form
    /// "TMBO", in `PRAGMA application_id`.
    static let applicationID: Int64 = 0x544d_424f

    /// Prepares a database for writing. Returns true if it is new. In that case its tables are
    /// created in a transaction that is still open.
    ///
    /// A database of another program or version is refused and stays unchanged.
    ///
    /// - Parameter isDraft: true if commits need not wait for the disk.
    static func prepare(
        _ connection: borrowing Connection, isDraft: Bool
    ) throws(EventLogError) -> Bool {
        let owner = try connection.integer("PRAGMA application_id")
        let found = try connection.integer("PRAGMA user_version")
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        let isNew = owner == 0 && found == 0 && tables == 0
        guard isNew || owner == applicationID && found == version else {
            connection.leaveWALOnClose()
            if owner == applicationID { throw other(found, connection.path) }
            throw .sqlite(
                SQLITE_NOTADB, connection.path,
                message: "it is the database of another program (application_id \(owner))",
                hint: "give the relay a data directory of its own")
        }
        try connection.execute(durability)
        if isDraft { try connection.execute("PRAGMA synchronous = OFF") }
        guard isNew else { return false }
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute(LogTable.creations)
        try connection.execute(
            "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
        return true
    }

    /// A write-ahead log, and commits that return only when the data is on the disk. With pages of
    /// 8 KiB a batch needs half as many system calls; an existing database keeps its page size.
    /// Deleted data is overwritten, because it may be personal.
    private static let durability = """
        PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = ON
        """

    /// For readers: throws if the database is not Tombolo's, or has another schema.
    static func requireCurrent(
        _ connection: borrowing Connection
    ) throws(EventLogError) {
        let found = try version(of: connection)
        if found != version { throw other(found, connection.path) }
    }

    /// The schema's version. Throws if the database is not Tombolo's.
    static func version(of connection: borrowing Connection) throws(EventLogError) -> Int64 {
        guard try connection.integer("PRAGMA application_id") == applicationID else {
            throw .sqlite(SQLITE_NOTADB, connection.path)
        }
        return try connection.integer("PRAGMA user_version")
    }

    /// Error for a log at `path` that a newer or older version wrote.
    private static func other(_ schema: Int64, _ path: String) -> EventLogError {
        let isNewer = schema > version
        let hint =
            isNewer
            ? "run the newer tombolo that wrote it, or restore a backup from before it did"
            : "export it with the tombolo that wrote it (tombolo log export), and import that "
                + "into a new data directory (tombolo log import)"
        return .sqlite(
            SQLITE_SCHEMA, path,
            message: "it has schema \(schema), this program "
                + "\(isNewer ? "knows up to" : "reads") \(version)", hint: hint)
    }
}
