import TomboloCore
import TomboloEventLog

/// The tables `idempotency_<hour>`: hash → sequence, in the order of the sequences, one table for
/// each hour that brought keys, on the clock that nobody sets. A day later its keys count no
/// longer, and it goes in pieces.
struct IdempotencyHours {
    /// One hour's table, open for writing.
    private final class Open {
        let hour: Int64
        let insertion: Statement

        init(hour: Int64, insertion: consuming Statement) {
            self.hour = hour
            self.insertion = insertion
        }
    }

    private struct Hour {
        var hour: Int64
        var firstSeq: Int64
    }

    private static let prefix = "idempotency_"
    /// A key of the first instant of an hour stands until the last of the hour a day later.
    private static let hoursKept = IdempotencyKey.window.nanoseconds / Span.hours(1).nanoseconds + 1

    private var open: Open?
    private var hours: [Hour] = []

    /// Runs the insertion; the table is made where it is missing.
    /// Answers below which sequence no key stands any more.
    mutating func insert(
        _ hash: UInt64, seq: Int64, at instant: Instant, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64? {
        // A wall clock that jumps between an event and its commit brings no earlier hour.
        let hour = max(IdempotencyKey.hour(of: instant), open?.hour ?? .min)
        var cutoff: Int64?
        if open?.hour != hour { cutoff = try turn(to: hour, seq: seq, connection) }
        guard let open else { return cutoff }
        let hash = Int64(bitPattern: hash)
        open.insertion.bind(seq, at: 1)
        open.insertion.bind(hash, at: 2)
        open.insertion.bind(Self.checksum(seq, hash), at: 3)
        try open.insertion.execute()
        return cutoff
    }

    private mutating func turn(
        to hour: Int64, seq: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64? {
        let table = Self.prefix + String(hour)
        open = nil
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table)(
                seq INTEGER PRIMARY KEY, hash INTEGER NOT NULL, crc INTEGER NOT NULL)
            """)
        if !hours.contains(where: { $0.hour == hour }) {
            hours.append(Hour(hour: hour, firstSeq: seq))
        }
        open = Open(
            hour: hour,
            insertion: try connection.prepare(
                "INSERT INTO \(table)(seq, hash, crc) VALUES(?1,?2,?3)"))
        return hours.filter { !Self.isOld($0.hour, at: hour) }.map(\.firstSeq).min()
    }

    private static func isOld(_ hour: Int64, at now: Int64) -> Bool { hour < now - hoursKept }

    /// The oldest hour whose keys count no longer; nil where there is none.
    private var old: Int64? {
        guard let now = open?.hour else { return nil }
        return hours.first { Self.isOld($0.hour, at: now) }?.hour
    }

    /// Whether a table has only keys that count no longer.
    var hasOld: Bool { old != nil }

    /// Takes a piece of the oldest of those tables, and the table with its last rows.
    mutating func cutPiece(_ connection: borrowing Connection) throws(SQLiteError) -> CutPiece {
        var piece = CutPiece()
        guard let old else { return piece }
        let table = Self.prefix + String(old)
        let next = try connection.prepare(
            "SELECT seq FROM \(table) ORDER BY seq LIMIT 1 OFFSET \(CutAllowance.keysMax - 1)")
        let last = try next.step() ? next.integer(0) : nil
        next.reset()
        if let last {
            try Self.cut("DELETE FROM \(table) WHERE seq <= \(last)", connection)
            piece.rows = CutAllowance.keysMax
        } else {
            piece.rows = try connection.integer("SELECT count(*) FROM \(table)")
            try Self.cut("DROP TABLE \(table)", connection)
            hours.removeAll { $0.hour == old }
        }
        piece.goesOn = true
        return piece
    }

    /// Hashes under a key of the log's own are not personal data: their pages, which may be many,
    /// need no overwriting.
    private static func cut(
        _ sql: String, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try connection.execute("PRAGMA secure_delete = FAST")
        do throws(SQLiteError) { try connection.execute(sql) } catch {
            try connection.execute("PRAGMA secure_delete = ON")
            throw error
        }
        try connection.execute("PRAGMA secure_delete = ON")
    }

    /// What a rolled-back transaction made is gone: look again what is there.
    mutating func rolledBack(_ connection: borrowing Connection) throws(SQLiteError) {
        open = nil
        try list(connection)
    }

    /// Finds the tables there are.
    mutating func list(_ connection: borrowing Connection) throws(SQLiteError) {
        hours = []
        let tables = try connection.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '\(Self.prefix)*'"
        )
        while try tables.step() {
            let name = String(decoding: tables.bytes(0), as: UTF8.self)
            guard let hour = Int64(name.dropFirst(Self.prefix.count)) else { continue }
            let first = try connection.integer("SELECT coalesce(min(seq), 0) FROM \(name)")
            hours.append(Hour(hour: hour, firstSeq: first))
        }
        hours.sort { $0.hour < $1.hour }
    }

    /// Every key since the hour of `since`, oldest hour first; `damage` hears of each row that is
    /// wrong.
    func read(
        since: Instant, _ connection: borrowing Connection, damage: (String) -> Void,
        each: (_ hash: UInt64, _ seq: Int64, _ hour: Int64) -> Void
    ) throws(SQLiteError) {
        for hour in hours where hour.hour >= IdempotencyKey.hour(of: since) {
            let rows = try connection.prepare(
                "SELECT seq, hash, crc FROM \(Self.prefix)\(hour.hour) ORDER BY seq")
            while try rows.step() {
                let (seq, hash) = (rows.integer(0), rows.integer(1))
                if Self.checksum(seq, hash) == rows.integer(2) {
                    each(UInt64(bitPattern: hash), seq, hour.hour)
                } else {
                    damage("the idempotency key of event \(seq): its row is damaged")
                }
            }
        }
    }

    private static func checksum(_ seq: Int64, _ hash: Int64) -> Int64 {
        var sum = RowChecksum(.idempotency)
        sum.add((seq, hash))
        return sum.stored
    }
}
