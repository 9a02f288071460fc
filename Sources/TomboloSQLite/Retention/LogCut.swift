import CSQLite

/// Up to where history was cut, and up to where heads have their rows: rows of the table `cut`.
struct LogCut {
    /// The last event, and the last fact, that are gone; 0 where none is.
    var seq: Int64 = 0
    var fact: Int64 = 0
    /// The highest activity number that was given when the last cut was made: none is given twice,
    /// even when all traces of it are gone.
    var activity: Int64 = 0
    /// Rows of heads are right as of this event, and may be older than later ones: see
    /// `LaterHeads`. nil where all are right.
    var heads: Int64?
    /// By what the age of rows is counted.
    var leads = ClockLeads()

    init() {}

    /// A line where events are gone that rows of heads lack: earlier programs cut history so.
    var headsLost: String? {
        guard let heads, heads < seq else { return nil }
        return "events \(heads + 1) to \(seq) were cut before their activities' newest states were "
            + "stored: an activity with events among them may be older than it was"
    }

    /// Reads them; a schema without the table has cut nothing. `damage` hears of each row that is
    /// damaged, and is replaced by what is safe.
    init(
        _ connection: borrowing Connection, damage: (String) -> Void
    ) throws(SQLiteError) {
        guard
            try connection.integer(
                "SELECT count(*) FROM sqlite_schema WHERE name = 'cut'") > 0
        else { return }
        var values: [String: Int64] = [:]
        var isWhole = true
        let rows = try connection.prepare("SELECT name, value, crc FROM cut")
        while try rows.step() {
            let name = rows.bytes(0)
            let value = rows.integer(1)
            let text = String(decoding: name, as: UTF8.self)
            if Self.checksum(name, value) == rows.integer(2),
                (0...LogSchema.numberMax).contains(value)
            {
                if !leads.recover(text, value) { values[text] = value }
            } else {
                damage("where history was cut (\(text)): its row is damaged")
                isWhole = false
            }
        }
        heads = values["heads"]
        guard !isWhole else {
            seq = values["log"] ?? 0
            fact = values["fact"] ?? 0
            activity = values["activity"] ?? 0
            return
        }
        // The oldest rows tell; numbers are plenty: none that was given is among the next.
        let first = try Self.cutBefore("event", connection)
        let firstFact = try Self.cutBefore("fact", connection)
        let last = try connection.integer("SELECT max(activity) FROM head") + Self.numbersPassed
        (seq, fact) = (values["log"] ?? first, values["fact"] ?? firstFact)
        activity = values["activity"] ?? last
        // Each event may be behind its activity's head.
        if heads == nil { heads = seq }
    }

    /// The oldest row tells where the cut was; without any, no sequence is to be given twice.
    private static func cutBefore(
        _ table: String, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        let first = try connection.integer("SELECT min(seq) FROM \(table) WHERE seq > 0")
        if first > 0 { return first - 1 }
        return table == "event" ? try connection.integer("SELECT max(seq) FROM head") : 0
    }

    private static let numbersPassed: Int64 = 1 << 24

    /// Stores where history was cut.
    func store(_ connection: borrowing Connection) throws(SQLiteError) {
        try Self.store([("log", seq), ("fact", fact), ("activity", activity)], connection)
    }

    /// Stores up to where heads are right.
    static func storeHeads(
        _ seq: Int64?, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        guard let seq else { return try connection.execute("DELETE FROM cut WHERE name = 'heads'") }
        try store([("heads", seq)], connection)
    }

    static func store(
        _ rows: [(String, Int64)], _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO cut(name, value, crc) VALUES(?1,?2,?3)")
        for (name, value) in rows {
            let code = withBytes(of: name) { name in
                statement.bindText(name, at: 1)
                statement.bind(value, at: 2)
                statement.bind(checksum(name, value), at: 3)
                return statement.run()
            }
            try statement.check(code)
        }
    }

    private static func checksum(_ name: UnsafeRawBufferPointer, _ value: Int64) -> Int64 {
        var sum = RowChecksum(.cut)
        sum.add(name)
        sum.add(value)
        return sum.stored
    }
}
