import TomboloCore
import TomboloEventLog

/// Activities that ended on a day since 1970: their heads by number, and their numbers by a hash of
/// tenant and name.
///
/// Start-up reads none of them, so it takes as long as what lives is large. A hash only says where
/// to look: the name in the head decides. A day that is too old goes in pieces.
struct RetiredDays: ~Copyable {
    /// One day's tables, open for writing.
    private final class Open {
        let day: Int64
        let move: Statement
        let name: Statement
        let putName: Statement

        init(_ day: Int64, _ connection: borrowing Connection) throws(SQLiteError) {
            self.day = day
            let (heads, names) = (LogTable.retired(day), LogTable.retiredName(day))
            try connection.execute(heads.creation + names.creation)
            move = try connection.prepare(
                """
                INSERT OR REPLACE INTO \(heads.name)(key, row)
                \(LogTable.head.one)
                """)
            name = try connection.prepare(names.one)
            putName = try connection.prepare(names.replacement)
        }
    }

    private var open: Open?
    private var buffer = RowBuffer()

    static func day(_ instant: Instant) -> Int64 {
        floorDivide(instant.nanoseconds, Span.hours(24).nanoseconds)
    }

    /// The days there are, newest first.
    static func days(_ connection: borrowing Connection) throws(SQLiteError) -> [Int64] {
        let tables = try connection.prepare(
            """
            SELECT name FROM sqlite_schema
            WHERE type = 'table' AND name GLOB '\(LogTable.retiredNamePrefix)*'
            """)
        var days: [Int64] = []
        while try tables.step() {
            let name = String(decoding: tables.bytes(0), as: UTF8.self)
            if let day = Int64(name.dropFirst(LogTable.retiredNamePrefix.count)) {
                days.append(day)
            }
        }
        return days.sorted(by: >)
    }

    /// Moves the head of an activity out of what lives. Nothing happens where it has none there.
    mutating func retire(
        _ retired: RetiredActivity, hash: UInt64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let day = Self.day(retired.endedAt)
        if open?.day != day { open = try Open(day, connection) }
        guard let open else { return }
        let activity = retired.activity.rawValue
        try open.move.execute(at: activity)
        guard connection.changes > 0 else { return }
        let key = Int64(bitPattern: hash)
        // Two of one name may end on a day.
        var activities = try open.name.find(key, RetiredNameRow.activities) ?? []
        activities.removeAll { $0 == activity }
        activities.append(activity)
        try open.putName.put(key, RetiredNameRow.encode(key, activities, into: &buffer))
    }

    /// Where a retired activity stands, and its day.
    static func find(
        _ activity: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> (mark: ActivityMarks.Mark, day: Int64)? {
        for day in try days(connection) {
            let row = try connection.prepare(LogTable.retired(day).one)
            if var mark = try row.find(activity, HeadRow.mark) {
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
        try connection.prepare(LogTable.retired(day).deletion).execute(at: activity)
    }

    /// Leaves nothing of an activity but where it stood: no state, no name.
    mutating func bury(
        _ activity: Int64, _ mark: ActivityMarks.Mark, on day: Int64, nameHash: UInt64?,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        for old in try Self.days(connection) {
            try connection.prepare(LogTable.retired(old).deletion).execute(at: activity)
            if let nameHash { try forget(activity, Int64(bitPattern: nameHash), old, connection) }
        }
        try connection.prepare(LogTable.head.deletion).execute(at: activity)
        open = try Open(day, connection)
        let nothing = ActivityHead(activity: ActivityNumber(activity), value: [])
        try connection.prepare(LogTable.retired(day).replacement)
            .put(activity, HeadRow.encode(nothing, mark, into: &buffer))
    }

    /// The name of that hash no longer leads to the activity.
    private mutating func forget(
        _ activity: Int64, _ hash: Int64, _ day: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let names = LogTable.retiredName(day)
        guard
            let activities = try connection.prepare(names.one)
                .find(hash, RetiredNameRow.activities), activities.contains(activity)
        else { return }
        let left = activities.filter { $0 != activity }
        if left.isEmpty { return try connection.prepare(names.deletion).execute(at: hash) }
        try connection.prepare(names.change)
            .put(hash, RetiredNameRow.encode(hash, left, into: &buffer))
    }

    /// Takes a piece of the oldest day before `day`: first heads, which a name then no longer leads
    /// to, then names, and the tables with the last of these. nil where there is no such day.
    mutating func cutPiece(
        before day: Int64, _ allowance: CutAllowance, _ connection: borrowing Connection
    ) throws(SQLiteError) -> CutPiece? {
        guard let day = try Self.days(connection).last(where: { $0 < day }) else { return nil }
        let (heads, names) = (LogTable.retired(day).name, LogTable.retiredName(day).name)
        if open?.day == day { open = nil }
        var piece = CutPiece()
        piece.goesOn = true
        if let last = try Self.lastHead(in: heads, allowance, &piece, connection) {
            try connection.execute("DELETE FROM \(heads) WHERE key <= \(last)")
            return piece
        }
        let rows = allowance.rows
        let next = try connection.prepare(
            "SELECT key FROM \(names) ORDER BY key LIMIT 1 OFFSET \(rows - 1)")
        let last = try next.step() ? next.integer(0) : nil
        next.reset()
        if let last {
            try connection.execute("DELETE FROM \(names) WHERE key <= \(last)")
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
            "SELECT key, length(row) FROM \(table) ORDER BY key LIMIT \(allowance.rows)")
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
}

/// A row of the table of retired activities' names: the numbers of those whose tenant and name have
/// that hash, the newest last.
enum RetiredNameRow {
    static func encode(
        _ hash: Int64, _ activities: [Int64], into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        activities.withUnsafeBytes { buffer.row(.retired, hash, $0) }
    }

    /// nil where the row is damaged.
    static func activities(_ hash: Int64, _ row: RawSpan) -> [Int64]? {
        let size = MemoryLayout<Int64>.size
        guard RowChecksum.isRight(.retired, hash, row),
            (row.byteCount - RowChecksum.bytes) % size == 0
        else { return nil }
        return stride(from: RowChecksum.bytes, to: row.byteCount, by: size).map {
            row.unsafeLoadUnaligned(fromByteOffset: $0, as: Int64.self)
        }
    }
}
