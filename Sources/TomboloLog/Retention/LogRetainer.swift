import TomboloCore
import TomboloEventLog

/// Cuts history from its beginning, in limited pieces. The file stops growing once as much is
/// deleted as is added; it does not shrink, because free pages are reused.
///
/// How far history was cut is stored in the same transaction.
struct LogRetainer {
    /// If nothing is left to cut, the next check is this much later on the steady clock.
    private static let pause = Span.minutes(1)

    private let retention: LogRetention
    var cut = LogCut()
    private var sizes = FactSizes()
    private var dueAt = Instant.distantPast

    init(_ retention: LogRetention) { self.retention = retention }

    /// Sets the sizes of the full chapters of facts.
    mutating func count(_ sizes: FactSizes) {
        self.sizes = sizes
        dueAt = .distantPast
    }

    /// Adds a full chapter of facts.
    mutating func count(_ chapter: Int64, _ bytes: Int64) {
        sizes.add(chapter, bytes)
        if sizes.total > Int64(retention.factBytes) { dueAt = .distantPast }
    }

    /// True if there may be something to cut. `now` is the steady time of the newest row.
    func isDue(_ now: Instant) -> Bool { retention != .forever && now >= dueAt }

    /// Notes how far the wall clock is ahead of the steady clock from the batch at `receipt` on.
    mutating func note(
        _ lead: Span, at receipt: AppendReceipt, _ engine: any LogWriting
    ) throws(EventLogError) {
        let next = ByKind(event: receipt.firstSeq, fact: receipt.firstFactSeq)
        try cut.leads.note(lead, from: next, engine)
    }

    /// Cuts one piece, within a transaction. The new `cut` is valid once the transaction is
    /// durable; if it fails, the caller must restore the old one. Returns what was deleted, and
    /// whether the delayed heads were written.
    mutating func cutPiece(
        at now: Instant, _ standing: Standing, _ rows: inout LogRows, _ engine: any LogWriting
    ) throws(EventLogError) -> (piece: CutPiece, wroteHeads: Bool) {
        // Old idempotency keys are deleted no matter how long history is kept.
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
            // A head whose row is not current is rebuilt from its events at start-up. So write its
            // row before these events are deleted.
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
            // The events of these activities are already cut, so their heads are of no more use.
            piece.count(retired.bytes, rows: retired.rows)
            hasMore = true
        }
        if fact > cut.fact {
            try engine.delete(.fact, .min...fact, isPersonal: true)
            try FactIndex.cut(through: fact, engine)
            sizes.cut(through: fact)
        }
        if hasMore { piece.goesOn = true } else { dueAt = now + Self.pause }
        cut.activity = max(standing.positions.highest, cut.activity)
        (cut.seq, cut.fact) = (event, fact)
        try cut.leads.cut(event: event, fact: fact, engine)
        try cut.store(engine)
        return (piece, wroteHeads)
    }

    /// The last event that this piece may delete. It and all before it are older than `before`. A
    /// damaged row counts as as old as the row before it.
    private func lastEvent(
        before: Instant, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ engine: any LogWriting
    ) throws(EventLogError) -> Int64 {
        // Snapshots are deleted with their events, so their bytes count too.
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
            piece.count(Int64(row.byteCount))
            while let next = snapshots.first, next.seq <= last {
                piece.count(next.length)
                snapshots.removeFirst()
            }
            return count < allowance.rows && piece.bytes < allowance.bytes
        }
        return last
    }

    /// The last fact that this piece may delete: it is older than `before`, or the facts exceed the
    /// limit of bytes.
    private func lastFact(
        before: Instant, _ allowance: CutAllowance, _ piece: inout CutPiece,
        _ engine: any LogWriting
    ) throws(EventLogError) -> Int64 {
        let excess = sizes.excess(over: Int64(retention.factBytes))
        let earlier = piece
        var (last, seen) = (cut.fact, CutPiece())
        try engine.scan(.fact, after: cut.fact) { seq, row in
            seen.count(Int64(row.byteCount))
            // A damaged row is deleted together with the next old row after it.
            let isOld = FactRow.numbers(seq, row).map {
                Instant(nanoseconds: $0.recordedAt) < before + cut.leads.lead(.fact, seq)
            }
            if seq <= excess || isOld ?? false {
                (last, piece) = (seq, earlier)
                piece.count(seen.bytes, rows: seen.rows)
            }
            return allowance.hasRoom(in: seen)
        }
        return last
    }
}
