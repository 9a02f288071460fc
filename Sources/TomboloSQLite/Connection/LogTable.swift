/// One ordered table of the log: rows of bytes by an integer key. SQLite looks into no row; the
/// types in `Rows` say what is in one.
struct LogTable: Hashable {
    let name: String

    private init(_ name: String) { self.name = name }

    /// Tenants' names, by the small integers that rows use.
    static let tenant = LogTable("tenant")
    /// The log, by sequence: `EventRow`.
    static let event = LogTable("event")
    /// What neighbours of the log have in common, by a chapter's first sequence: `LogChapter`.
    static let block = LogTable("block")
    /// Idempotency keys, by a chapter's first sequence: `KeyChapter`.
    static let keys = LogTable("keys")
    /// Heads of the past, by the sequence of the event where they were kept: `SnapshotRow`.
    static let snapshot = LogTable("snapshot")
    /// What the relay learned by itself, by sequence; cut by age: `FactRow`.
    static let fact = LogTable("fact")
    /// What neighbours of the facts have in common, by a chapter's first sequence: `FactChapter`.
    static let factBlock = LogTable("fact_block")
    /// Which facts of a chapter an activity or a device has: `FactBucket`.
    static let factBucket = LogTable("fact_index")
    /// The newest state of each activity, by its number: `HeadRow`.
    static let head = LogTable("head")
    /// Current values, by space << 48 | number: `RecordRow`.
    static let record = LogTable("record")
    /// What belongs to the log as a whole: `LogMeta`.
    static let meta = LogTable("meta")
    /// Up to where history was cut: `LogCut`.
    static let cut = LogTable("cut")
    /// How many events and facts each tenant has: `TallyRow`.
    static let tally = LogTable("tally")

    /// Activities that ended on a day since 1970: their heads by number. The table comes with the
    /// first that ends then.
    static func retired(_ day: Int64) -> LogTable { LogTable("\(retiredPrefix)\(day)") }
    /// Their numbers, by the hash of tenant and name: `RetiredNameRow`.
    static func retiredName(_ day: Int64) -> LogTable { LogTable("\(retiredNamePrefix)\(day)") }
    private static let retiredPrefix = "retired_"
    static let retiredNamePrefix = "retired_name_"

    /// Those that a new database has. `Waypoint` has one more, whose rows have a tenant too.
    static let all = [
        tenant, event, block, keys, snapshot, fact, factBlock, factBucket, head, record, meta, cut,
        tally,
    ]

    var creation: String {
        "CREATE TABLE IF NOT EXISTS \(name)(key INTEGER PRIMARY KEY, row BLOB NOT NULL);"
    }

    // MARK: Statements

    /// Key and row of all that `rest` says: see `Statement.read`.
    func selection(_ rest: String = "") -> String { "SELECT key, row FROM \(name) \(rest)" }
    /// The row at ?1: see `Statement.find`.
    var one: String { selection("WHERE key = ?1") }
    /// A new row: see `Statement.put`.
    var insertion: String { "INSERT INTO \(name)(key, row) VALUES(?1,?2)" }
    /// A row, new or not.
    var replacement: String { "INSERT OR REPLACE INTO \(name)(key, row) VALUES(?1,?2)" }
    /// A row that is there: about half the work.
    var change: String { "UPDATE \(name) SET row = ?2 WHERE key = ?1" }
    /// The row at ?1 goes: see `Statement.execute(at:)`.
    var deletion: String { "DELETE FROM \(name) WHERE key = ?1" }
}

extension Statement {
    /// The key of the present row.
    @inline(__always)
    var key: Int64 { integer(0) }

    /// The bytes of the present row, SQLite's own: valid until the next step or reset.
    @inline(__always)
    var row: UnsafeRawBufferPointer { bytes(1) }

    /// What `codec` makes of the present row.
    @inline(__always)
    func read<Answer>(_ codec: (Int64, RawSpan) -> Answer) -> Answer { codec(key, row.bytes) }

    /// What `codec` makes of the row at `key`; nil where there is none.
    @inline(__always)
    func find<Answer>(
        _ key: Int64, _ codec: (Int64, RawSpan) -> Answer?
    ) throws(SQLiteError) -> Answer? {
        bind(key, at: 1)
        defer { reset() }
        return try step() ? read(codec) : nil
    }

    /// Runs a statement that writes `row` at `key`.
    @inline(__always)
    func put(_ key: Int64, _ row: UnsafeRawBufferPointer) throws(SQLiteError) {
        bind(key, at: 1)
        bindBlob(row, at: 2)
        try execute()
    }

    /// Runs a statement that needs a key alone: a deletion.
    func execute(at key: Int64) throws(SQLiteError) {
        bind(key, at: 1)
        try execute()
    }
}
