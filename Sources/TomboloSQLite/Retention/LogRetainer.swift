import TomboloCore
import TomboloEventLog

/// Cuts history from its beginning, a bounded piece at a time, so that the file stops growing when
/// as much goes as comes.
///
/// Pages that become free are used again; the file does not shrink. Up to where it was cut is
/// stored in the same transaction.
struct LogRetainer {
    /// When nothing is left to cut, nobody looks again for this long (by the events' own time).
    private static let pause = Span.minutes(1)

    private let retention: LogRetention
    private(set) var cut = LogCut()
    private var sizes = FactSizes()
    private var dueAt = Instant.distantPast

    init(_ retention: LogRetention) { self.retention = retention }

    mutating func recover(_ cut: LogCut, _ sizes: FactSizes) {
        self.cut = cut
        count(sizes)
    }

    /// Full chapters of facts count so much.
    mutating func count(_ sizes: FactSizes) {
        self.sizes = sizes
        dueAt = .distantPast
    }

    /// Another one is full.
    mutating func count(_ chapter: Int64, _ bytes: Int64) {
        sizes.add(chapter, bytes)
        if sizes.total > Int64(retention.factBytes) { dueAt = .distantPast }
    }

    /// Whether there may be something to cut, when the newest row is of `now` on the clock that
    /// nobody sets.
    func isDue(_ now: Instant) -> Bool { retention != .forever && now >= dueAt }

    /// The wall clock is so far ahead of the steady one from the batch at `receipt` on.
    mutating func note(
        _ lead: Span, at receipt: AppendReceipt, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try cut.leads.note(
            lead, nextEvent: receipt.firstSeq, nextFact: receipt.firstFactSeq, connection)
    }

    /// The same as another log had it.
    mutating func adopt(
        _ lead: (event: Int64, fact: Int64, seconds: Int64), _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try cut.leads.add(lead, connection)
    }

    /// Cuts one piece; within a transaction. `cut` counts once that transaction is durable: else
    /// the caller recovers it. Answers what went, and whether it wrote the heads that had no rows.
    mutating func cutPiece(
        at now: Instant, _ standing: Standing, _ rows: inout LogRows,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> (piece: CutPiece, wroteHeads: Bool) {
        // Keys are no history: how long that is kept is nothing to them.
        var piece = CutPiece()
        if rows.hasOldKeys(at: now), let keys = try rows.cutKeys(connection) {
            cut.keys = keys
            try cut.store(connection)
            (piece.rows, piece.goesOn) = (1, true)
        }
        guard isDue(now) else { return (piece, false) }
        let before = now - retention.history
        var goesOn = false
        let event = try lastEvent(before: before, rows.allowance, &piece, connection)
        let fact = try lastFact(
            before: now - retention.facts, rows.allowance, &piece, connection)
        var wroteHeads = false
        if event > cut.seq {
            // A head without a row is made again from its events: it gets one before they go.
            if let heads = try LogCut(connection, damage: { _ in }).heads, heads < event {
                try rows.writeLater(standing, connection)
                wroteHeads = true
            }
            try connection.execute(
                """
                DELETE FROM event WHERE key <= \(event); DELETE FROM snapshot WHERE key <= \(event);
                DELETE FROM block WHERE key <= \(event - LogChapter.size + 1)
                """)
        } else if let retired = try rows.cutRetired(
            before: RetiredDays.day(before + cut.leads.least), connection)
        {
            // Their events are gone: nobody can ask for more than the name.
            piece.rows += retired.rows
            piece.bytes += retired.bytes
            goesOn = true
        }
        if fact > cut.fact {
            try connection.execute("DELETE FROM fact WHERE key <= \(fact)")
            try FactIndex.cut(through: fact, connection)
            sizes.cut(through: fact)
        }
        if event > cut.seq || fact > cut.fact { goesOn = true }
        if !goesOn { dueAt = now + Self.pause }
        if goesOn { piece.goesOn = true }
        cut.activity = max(standing.highestActivity, cut.activity)
        (cut.seq, cut.fact) = (event, fact)
        try cut.leads.cut(event: event, fact: fact, connection)
        try cut.store(connection)
        return (piece, wroteHeads)
    }

    /// The last of the next events that is older than `before`, and all between too, as far as the
    /// piece may go. A damaged row is as old as the one before it.
    private func lastEvent(
        before: Instant, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        let rows = try connection.prepare(
            LogTable.event.selection(
                "WHERE key > \(cut.seq) ORDER BY key LIMIT \(allowance.rows)"))
        // Heads of the past go with their events.
        let snapshots = try connection.prepare(
            "SELECT key, length(row) FROM snapshot WHERE key > \(cut.seq) ORDER BY key")
        var hasSnapshot = try snapshots.step()
        var last = cut.seq
        while piece.bytes < allowance.bytes, try rows.step() {
            let seq = rows.key
            if let numbers = rows.read(EventRow.numbers),
                Instant(nanoseconds: numbers.recordedAt) >= before + cut.leads.lead(event: seq)
            {
                break
            }
            last = seq
            piece.rows += 1
            piece.bytes += Int64(rows.row.count)
            while hasSnapshot, snapshots.integer(0) <= last {
                piece.rows += 1
                piece.bytes += snapshots.integer(1)
                hasSnapshot = try snapshots.step()
            }
        }
        return last
    }

    /// The last of the next facts that is older than `before`, or of those that are too many
    /// bytes, as far as the piece may go.
    private func lastFact(
        before: Instant, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        let rows = try connection.prepare(
            LogTable.fact.selection(
                "WHERE key > \(cut.fact) ORDER BY key LIMIT \(allowance.rows)"))
        let excess = sizes.excess(over: Int64(retention.factBytes))
        var last = cut.fact
        var (count, countAtLast): (Int64, Int64) = (0, 0)
        var (bytes, bytesAtLast): (Int64, Int64) = (0, 0)
        while bytes < allowance.bytes, try rows.step() {
            count += 1
            bytes += Int64(rows.row.count)
            let seq = rows.key
            // A damaged row is as old as the next one.
            let recordedAt = rows.read(FactRow.numbers).map {
                Instant(nanoseconds: $0.recordedAt)
            }
            let isOld = recordedAt.map { $0 < before + cut.leads.lead(fact: seq) } ?? false
            guard seq <= excess || isOld else { continue }
            (last, countAtLast, bytesAtLast) = (seq, count, bytes)
        }
        piece.rows += countAtLast
        piece.bytes += bytesAtLast
        return last
    }
}
