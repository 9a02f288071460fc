import CSQLite
import TomboloCore

/// The step from schema 2 to 3: every row of `log` moves into `event`.
///
/// Within one transaction, as every step: it needs as much room again as the log takes, and about
/// two seconds for a million events.
enum LogMoving {
    static func moveEvents(_ connection: borrowing Connection) throws(SQLiteError) {
        let rows = try connection.prepare(
            "SELECT \(LegacyEventRow.columns) FROM log ORDER BY seq")
        let insertion = try connection.prepare(EventRow.insertion)
        let blocks = try connection.prepare(LogChapter.insertion)
        var buffer = RowBuffer()
        var chapter = LogChapter()
        var last: Int64 = 0
        while try rows.step() {
            let seq = rows.integer(0)
            if last > 0, LogChapter.first(of: seq) != LogChapter.first(of: last) {
                try blocks.check(chapter.insert(first: LogChapter.first(of: last), with: blocks))
                chapter = LogChapter()
            }
            last = seq
            insertion.bind(seq, at: 1)
            insertion.bindBlob(move(rows, seq, &chapter, into: &buffer), at: 2)
            try insertion.execute()
        }
        if last > 0, last % LogChapter.size == 0 {
            try blocks.check(chapter.insert(first: LogChapter.first(of: last), with: blocks))
        }
        rows.reset()
        try connection.execute("DROP TABLE log")
    }

    /// A damaged row stays one: as it cannot be read, nobody can say what it was.
    private static func move(
        _ row: borrowing Statement, _ seq: Int64, _ chapter: inout LogChapter,
        into buffer: inout RowBuffer
    ) -> UnsafeRawBufferPointer {
        guard let old = LegacyEventRow.numbers(row), let kind = UInt8(exactly: old.kind) else {
            let ruin = buffer.bytes(1)
            ruin.storeBytes(of: 0, as: UInt8.self)
            return UnsafeRawBufferPointer(ruin)
        }
        chapter.add(seq, tenant: old.tenant, kind: kind, recordedAt: old.recordedAt)
        let numbers = EventRow.Numbers(
            kind: kind, flags: old.keyBytes >= 0 ? EventRow.Numbers.hasKey : 0, keyBytes: 0,
            tenant: old.tenant, activity: old.activity, version: old.version,
            previous: old.previous, anchor: 0, recordedAt: old.recordedAt)
        return EventRow.encode(
            numbers, tenantSeq: seq, digest: UInt64(bitPattern: old.digest), key: row.bytes(9),
            body: row.bytes(10), seq, into: &buffer)
    }
}
