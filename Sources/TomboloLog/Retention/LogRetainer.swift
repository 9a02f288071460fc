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
    var cut = LogCut()
    private var sizes = FactSizes()
    private var dueAt = Instant.distantPast

    init(_ retention: LogRetention) { self.retention = retention }

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
        _ lead: Span, at receipt: AppendReceipt, _ engine: any LogWriting
    ) throws(EventLogError) {
        let next = ByKind(event: receipt.firstSeq, fact: receipt.firstFactSeq)
        try cut.leads.note(lead, from: next, engine)
    }

    /// Cuts one piece; within a transaction. `cut` counts once that transaction is durable: else
    /// the caller recovers it. Answers what went, and whether it wrote the heads that had no rows.
    mutating func cutPiece(
        at now: Instant, _ standing: Standing, _ rows: inout LogRows, _ engine: any LogWriting
    ) throws(EventLogError) -> (piece: CutPiece, wroteHeads: Bool) {
        // Keys are no history: how long that is kept is nothing to them.
        var piece = CutPiece()
        if rows.hasOldKeys(at: now), let keys = try rows.keys.cut(engine) {
            cut.keys = keys
            try cut.store(engine)
            (piece.rows, piece.goesOn) = (1, true)
        }
        guard isDue(now) else { return (piece, false) }
        let before = now - retention.history
        let event = try lastEvent(before: before, rows.allowance, &piece, engine)
        let fact = try lastFact(before: now - retention.facts, rows.allowance, &piece, engine)
        var (wroteHeads, hasMore) = (false, event > cut.seq || fact > cut.fact)
        if event > cut.seq {
            // A head without a row is made again from its events: it gets one before they go.
            if let heads = rows.heads, heads < event {
                try rows.writeLater(standing)
                wroteHeads = true
            }
            try engine.delete(.event, .min...event, isPersonal: true)
            try engine.delete(.snapshot, .min...event, isPersonal: true)
            try engine.delete(.block, .min...event - LogChapter.size + 1, isPersonal: true)
        } else if let retired = try RetiredDays.cutPiece(
            before: RetiredDays.day(before + cut.leads.least), rows.allowance, engine)
        {
            // Their events are gone: nobody can ask for more than the name.
            piece.take(retired.bytes, rows: retired.rows)
            hasMore = true
        }
        if fact > cut.fact {
            try engine.delete(.fact, .min...fact, isPersonal: true)
            try FactIndex.cut(through: fact, engine)
            sizes.cut(through: fact)
        }
        if hasMore { piece.goesOn = true } else { dueAt = now + Self.pause }
        cut.activity = max(standing.marks.highest, cut.activity)
        (cut.seq, cut.fact) = (event, fact)
        try cut.leads.cut(event: event, fact: fact, engine)
        try cut.store(engine)
        return (piece, wroteHeads)
    }

    /// The last of the next events that is older than `before`, and all between too, as far as the
    /// piece may go. A damaged row is as old as the one before it.
    private func lastEvent(
        before: Instant, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ engine: any LogWriting
    ) throws(EventLogError) -> Int64 {
        // Heads of the past go with their events.
        var snapshots: ArraySlice<(seq: Int64, length: Int64)> = []
        try engine.lengths(.snapshot, min(cut.seq, LogTable.numberMax - 1) + 1...LogTable.numberMax)
        {
            snapshots.append(($0, $1))
            return snapshots.count < allowance.rows
        }
        var (last, count) = (cut.seq, Int64(0))
        try engine.scan(.event, after: cut.seq) { seq, row in
            if let numbers = EventRow.numbers(seq, row),
                Instant(nanoseconds: numbers.recordedAt) >= before + cut.leads.lead(.event, seq)
            {
                return false
            }
            (last, count) = (seq, count + 1)
            piece.take(Int64(row.byteCount))
            while let next = snapshots.first, next.seq <= last {
                piece.take(next.length)
                snapshots.removeFirst()
            }
            return count < allowance.rows && piece.bytes < allowance.bytes
        }
        return last
    }

    /// The last of the next facts that is older than `before`, or of those that are too many
    /// bytes, as far as the piece may go.
    private func lastFact(
        before: Instant, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ engine: any LogWriting
    ) throws(EventLogError) -> Int64 {
        let excess = sizes.excess(over: Int64(retention.factBytes))
        let earlier = piece
        var (last, seen) = (cut.fact, CutPiece())
        try engine.scan(.fact, after: cut.fact) { seq, row in
            seen.take(Int64(row.byteCount))
            // A damaged row is as old as the next one.
            let isOld = FactRow.numbers(seq, row).map {
                Instant(nanoseconds: $0.recordedAt) < before + cut.leads.lead(.fact, seq)
            }
            if seq <= excess || isOld ?? false {
                (last, piece) = (seq, earlier)
                piece.take(seen.bytes, rows: seen.rows)
            }
            return allowance.hasRoom(in: seen)
        }
        return last
    }
}
