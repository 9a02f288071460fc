import TomboloCore
import TomboloEventLog

/// The tables `retired_<day>` and `retired_name_<day>`: activities that ended on a day since 1970,
/// their heads by number and their numbers by a hash of tenant and name.
///
/// Start-up reads none of them, so it takes as long as what lives is large. A hash only says where
/// to look: the name in the head decides. A day that is too old goes in pieces.
struct RetiredDays {
    /// One day's tables, open for writing.
    private final class Open {
        let day: Int64
        let move: Statement
        let name: Statement

        init(day: Int64, move: consuming Statement, name: consuming Statement) {
            self.day = day
            self.move = move
            self.name = name
        }
    }

    static let prefix = "retired_"
    static let namePrefix = "retired_name_"

    private var open: Open?

    static func day(_ instant: Instant) -> Int64 {
        floorDivide(instant.nanoseconds, Span.hours(24).nanoseconds)
    }

    /// The days there are, newest first.
    static func days(_ connection: borrowing Connection) throws(SQLiteError) -> [Int64] {
        let tables = try connection.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '\(namePrefix)*'")
        var days: [Int64] = []
        while try tables.step() {
            let name = String(decoding: tables.bytes(0), as: UTF8.self)
            if let day = Int64(name.dropFirst(namePrefix.count)) { days.append(day) }
        }
        return days.sorted(by: >)
    }

    /// Moves the head of an activity out of what lives. Nothing happens where it has none there.
    mutating func retire(
        _ retired: RetiredActivity, hash: UInt64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let day = Self.day(retired.endedAt)
        if open?.day != day { try turn(to: day, connection) }
        guard let open else { return }
        open.move.bind(retired.activity.rawValue, at: 1)
        try open.move.execute()
        guard connection.changes > 0 else { return }
        let hash = Int64(bitPattern: hash)
        open.name.bind(hash, at: 1)
        open.name.bind(retired.activity.rawValue, at: 2)
        open.name.bind(Self.checksum(hash, retired.activity.rawValue), at: 3)
        try open.name.execute()
    }

    private mutating func turn(
        to day: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        open = nil
        let (heads, names) = (Self.prefix + String(day), Self.namePrefix + String(day))
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(heads)(
                activity INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, version INTEGER NOT NULL,
                seq INTEGER NOT NULL, crc INTEGER NOT NULL, value BLOB NOT NULL,
                tenant_seq INTEGER);
            CREATE TABLE IF NOT EXISTS \(names)(
                hash INTEGER, activity INTEGER, crc INTEGER NOT NULL, PRIMARY KEY(hash, activity))
                WITHOUT ROWID
            """)
        open = Open(
            day: day,
            move: try connection.prepare(
                """
                INSERT OR REPLACE INTO \(heads)(\(HeadRow.columns))
                SELECT \(HeadRow.columns) FROM head WHERE activity = ?1
                """),
            name: try connection.prepare(
                "INSERT OR REPLACE INTO \(names)(hash, activity, crc) VALUES(?1,?2,?3)"))
    }

    /// Where a retired activity stands, and its day.
    static func find(
        _ activity: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> (mark: ActivityMarks.Mark, day: Int64)? {
        for day in try days(connection) {
            let row = try connection.prepare(
                "SELECT \(HeadRow.columns) FROM \(prefix)\(day) WHERE activity = ?1")
            row.bind(activity, at: 1)
            if try row.step(), var mark = HeadRow.mark(row) {
                mark.hasHead = false
                return (mark, day)
            }
        }
        return nil
    }

    /// The activity has begun anew: it lives. Its name's row stays, and leads nowhere.
    mutating func revive(
        _ activity: Int64, day: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let deletion = try connection.prepare(
            "DELETE FROM \(Self.prefix)\(day) WHERE activity = ?1")
        deletion.bind(activity, at: 1)
        try deletion.execute()
    }

    /// Leaves nothing of an activity but where it stood: no state, no name.
    mutating func bury(
        _ activity: Int64, _ mark: ActivityMarks.Mark, on day: Int64, nameHash: UInt64?,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        for old in try Self.days(connection) {
            try connection.execute("DELETE FROM \(Self.prefix)\(old) WHERE activity = \(activity)")
            guard let nameHash else { continue }
            try connection.execute(
                """
                DELETE FROM \(Self.namePrefix)\(old)
                WHERE hash = \(Int64(bitPattern: nameHash)) AND activity = \(activity)
                """)
        }
        try connection.execute("DELETE FROM head WHERE activity = \(activity)")
        try turn(to: day, connection)
        let insertion = try connection.prepare(
            HeadRow.insertion(into: "\(Self.prefix)\(day)"))
        let nothing = ActivityHead(activity: ActivityNumber(activity), value: [])
        try insertion.check(HeadRow.write(nothing, mark, with: insertion))
    }

    /// Takes a piece of the oldest day before `day`: first heads, which a name then no longer leads
    /// to, then names, and the tables with the last of these. nil where there is no such day.
    mutating func cutPiece(
        before day: Int64, _ allowance: CutAllowance, _ connection: borrowing Connection
    ) throws(SQLiteError) -> CutPiece? {
        guard let day = try Self.days(connection).last(where: { $0 < day }) else { return nil }
        let (heads, names) = (Self.prefix + String(day), Self.namePrefix + String(day))
        if open?.day == day { open = nil }
        var piece = CutPiece()
        piece.goesOn = true
        if let last = try Self.lastHead(in: heads, allowance, &piece, connection) {
            try connection.execute("DELETE FROM \(heads) WHERE activity <= \(last)")
            return piece
        }
        let rows = allowance.rows
        let next = try connection.prepare(
            "SELECT hash FROM \(names) ORDER BY hash LIMIT 1 OFFSET \(rows - 1)")
        let last = try next.step() ? next.integer(0) : nil
        next.reset()
        if let last {
            try connection.execute("DELETE FROM \(names) WHERE hash <= \(last)")
            piece.rows += connection.changes
        } else {
            piece.rows += try connection.integer("SELECT count(*) FROM \(names)")
            try connection.execute("DROP TABLE \(heads); DROP TABLE \(names)")
        }
        return piece
    }

    /// The last head that the piece takes; nil where there is none.
    private static func lastHead(
        in table: String, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64? {
        let heads = try connection.prepare(
            """
            SELECT activity, length(value) FROM \(table) ORDER BY activity LIMIT \(allowance.rows)
            """)
        var last: Int64?
        while piece.bytes < allowance.bytes, try heads.step() {
            last = heads.integer(0)
            piece.rows += 1
            piece.bytes += heads.integer(1)
        }
        return last
    }

    /// What a rolled-back transaction made is gone.
    mutating func rolledBack() { open = nil }

    static func checksum(_ hash: Int64, _ activity: Int64) -> Int64 {
        var sum = RowChecksum(.retired)
        sum.add((hash, activity))
        return sum.stored
    }
}
