import TomboloCore
import TomboloEventLog

/// Cuts history from its beginning, a bounded piece at a time, so that the file stops growing when
/// as much goes as comes.
///
/// Pages that become free are used again; the file does not shrink. Up to where it was cut is
/// stored in the same transaction.
struct LogRetainer {
    /// Rows that one piece looks at: more than one commit brings, so that it keeps pace.
    static let rowsMax: Int64 = 4_000
    /// When nothing is left to cut, nobody looks again for this long (by the events' own time).
    private static let pause = Span.minutes(1)

    private let retention: LogRetention
    private(set) var cut = LogCut()
    private var dueAt = Instant.distantPast

    init(_ retention: LogRetention) { self.retention = retention }

    mutating func recover(_ cut: LogCut) {
        self.cut = cut
        dueAt = .distantPast
    }

    /// Whether there may be something to cut, when the newest row is of `now`.
    func isDue(_ now: Instant) -> Bool { retention != .forever && now >= dueAt }

    /// Cuts one piece; within a transaction. `cut` counts once that transaction is durable: else
    /// the caller recovers it. Answers whether it wrote the heads that had no rows yet.
    mutating func cutPiece(
        at now: Instant, _ standing: Standing, _ rows: inout LogRows,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> Bool {
        let before = now - retention.history
        let event = try Self.lastEvent(after: cut.seq, before: before, connection)
        let factsBefore = now - retention.facts
        let fact = try Self.lastFact(after: cut.fact, before: factsBefore, connection)
        var wroteHeads = false
        if event > cut.seq {
            // A head without a row is made again from its events: it gets one before they go.
            if let heads = try LogCut(connection, damage: { _ in }).heads,
                heads < event
            {
                try rows.writeLater(standing, connection)
                wroteHeads = true
            }
            try connection.execute(
                """
                DELETE FROM event WHERE seq <= \(event); DELETE FROM snapshot WHERE seq <= \(event);
                DELETE FROM block WHERE first <= \(event - LogChapter.size + 1)
                """)
        } else {
            // Their events are gone: nobody can ask for more than the name.
            try rows.dropRetired(before: RetiredDays.day(before), connection)
        }
        if fact > cut.fact { try connection.execute("DELETE FROM fact WHERE seq <= \(fact)") }
        if event == cut.seq, fact == cut.fact { dueAt = now + Self.pause }
        cut.activity = max(standing.highestActivity, cut.activity)
        (cut.seq, cut.fact) = (event, fact)
        try cut.store(connection)
        return wroteHeads
    }

    /// The last of the next events that is older than `before`, and all between too; `after` where
    /// none is. A damaged row is as old as the one before it.
    private static func lastEvent(
        after: Int64, before: Instant, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        let rows = try connection.prepare(
            """
            SELECT \(EventRow.columns) FROM event WHERE seq > \(after) ORDER BY seq LIMIT \(rowsMax)
            """)
        var last = after
        while try rows.step() {
            if let numbers = EventRow.numbers(rows), numbers.recordedAt >= before.nanoseconds {
                break
            }
            last = rows.integer(0)
        }
        return last
    }

    /// The last of the next facts that is older than `before`; `after` where none is.
    private static func lastFact(
        after: Int64, before: Instant, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        let last = try connection.integer(
            """
            SELECT max(seq) FROM (
                SELECT seq, recorded_at FROM fact WHERE seq > \(after) ORDER BY seq
                LIMIT \(rowsMax))
            WHERE recorded_at < \(before.nanoseconds)
            """)
        return max(after, last)
    }
}
