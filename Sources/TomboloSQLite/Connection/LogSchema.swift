import TomboloEventLog

/// The tables of `tombolo.db`, and how a database comes to have them.
///
/// No table has an index besides its integer key: at ten million rows a random index costs thirty
/// times the insert itself. Whatever needs to be found otherwise is found from the heads (back
/// pointers and snapshots), by what blocks of rows have in common, by the hashes of a chapter of
/// facts (`FactIndex`), or in memory.
enum LogSchema {
    /// The number in `PRAGMA user_version`.
    static let version: Int64 = 5
    /// "TMBO", in `PRAGMA application_id`.
    static let applicationID: Int64 = 0x544d_424f

    /// Sequences, versions and counts end here: a row beyond is damaged, and arithmetic has room.
    static let numberMax: Int64 = 1 << 53

    /// All tables of a new database. A new column comes last.
    private static let tables = """
        -- Small integers for tenants; rows use them.
        CREATE TABLE tenant(id INTEGER PRIMARY KEY, name TEXT NOT NULL, crc INTEGER NOT NULL);
        -- The log: one blob a row (EventRow.swift has its layout).
        CREATE TABLE event(seq INTEGER PRIMARY KEY, row BLOB NOT NULL);
        -- What each 256 neighbours of it have in common, 64 times; none for the newest ones.
        CREATE TABLE block(first INTEGER PRIMARY KEY, crc INTEGER NOT NULL, row BLOB NOT NULL);
        -- Heads of the past, at the events where they were kept.
        CREATE TABLE snapshot(seq INTEGER PRIMARY KEY, crc INTEGER NOT NULL, row BLOB NOT NULL);
        -- What the relay learned by itself; cut by age. recorded_at: nanoseconds since 1970.
        -- tenant_seq: the place among the tenant's facts; NULL where it is that in the log.
        CREATE TABLE fact(
            seq INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, activity INTEGER,
            recorded_at INTEGER NOT NULL, crc INTEGER NOT NULL, kind TEXT NOT NULL,
            body BLOB NOT NULL, tenant_seq INTEGER);
        -- The newest state of each activity.
        CREATE TABLE head(
            activity INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, version INTEGER NOT NULL,
            seq INTEGER NOT NULL, crc INTEGER NOT NULL, value BLOB NOT NULL,
            tenant_seq INTEGER);
        -- Current values; key: space << 48 | number.
        CREATE TABLE record(
            key INTEGER PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL);
        -- What belongs to the log as a whole.
        CREATE TABLE meta(
            name TEXT PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
        -- Up to where history was cut: log, fact, and the highest activity number ever given.
        -- (Tables retired_<day> and retired_name_<day> come with the first that ends on a day.)
        CREATE TABLE cut(
            name TEXT PRIMARY KEY, value INTEGER NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
        -- How many events and facts each tenant has, and where they are in the log.
        \(TallyRow.schema) \(Waypoint.schema)
        -- What leads to facts: what each 256 neighbours have in common, 64 times a row; and, in 64
        -- rows for each 16,384 neighbours, which of them an activity or a device has.
        \(FactIndex.schema)
        """

    /// What a file turned out to be.
    private enum Found {
        case empty
        case ours(version: Int64)
        case foreign(applicationID: Int64)
    }

    /// Makes the tables of a new database, and leaves one that has them as it is; `create` fills
    /// what a new one needs, in the transaction that makes it.
    ///
    /// What is not ours, and what another version of this program wrote, is refused and left
    /// untouched.
    static func prepare(
        _ connection: borrowing Connection, path: String,
        create: (borrowing Connection) throws(SQLiteError) -> Void
    ) throws(EventLogError) {
        let found: Found
        do throws(SQLiteError) { found = try inspect(connection) } catch {
            throw error.unusable(path)
        }
        switch found {
        case .foreign(let applicationID):
            throw .unusable(
                cause:
                    "\(path) is the database of another program (application_id \(applicationID))",
                hint: "give the relay a data directory of its own")
        case .ours(let version) where version > Self.version:
            throw SQLiteError.newer(version).unusable(path)
        case .ours(let version) where version < Self.version:
            throw SQLiteError.older(version).unusable(path)
        case .ours: try make(connection, path: path, isNew: false, create: create)
        case .empty: try make(connection, path: path, isNew: true, create: create)
        }
    }

    /// Write-ahead log, and a commit that returns only after it is on the disk. Pages of 8 KiB
    /// halve the calls to the system that a batch needs; a database that is there keeps its own.
    /// What is deleted is overwritten: it may have been somebody's.
    static let durability = """
        PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = ON
        """

    /// For those who only read: throws where it is none of ours, or of another schema.
    static func requireCurrent(_ connection: borrowing Connection) throws(SQLiteError) {
        guard try connection.integer("PRAGMA application_id") == applicationID else {
            throw SQLiteError.notOurs
        }
        let found = try connection.integer("PRAGMA user_version")
        if found > version { throw SQLiteError.newer(found) }
        if found < version { throw SQLiteError.older(found) }
    }

    private static func inspect(_ connection: borrowing Connection) throws(SQLiteError) -> Found {
        let owner = try connection.integer("PRAGMA application_id")
        let version = try connection.integer("PRAGMA user_version")
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if owner == applicationID { return .ours(version: version) }
        return owner == 0 && version == 0 && tables == 0
            ? .empty : .foreign(applicationID: owner)
    }

    private static func make(
        _ connection: borrowing Connection, path: String, isNew: Bool,
        create: (borrowing Connection) throws(SQLiteError) -> Void
    ) throws(EventLogError) {
        do throws(SQLiteError) {
            try connection.execute(durability)
            guard isNew else { return }
            try connection.execute("BEGIN IMMEDIATE")
            try connection.execute(tables)
            try connection.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            try create(connection)
            try connection.execute("COMMIT")
        } catch {
            throw error.unusable(path)
        }
    }
}
