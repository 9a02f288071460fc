import TomboloCore
import TomboloEventLog

/// The idempotency keys of the last day: one row for each chapter of events, with hashes, sequences
/// and hours of the steady clock. The newest chapter has no row yet; start-up builds it from its
/// events. A chapter's row is deleted when its keys are over a day old, and no longer count.
struct KeyChapters {
    /// Number of hours for which a key counts: from its own hour to the same hour a day later.
    private static let hoursKept = IdempotencyKey.window.nanoseconds / Span.hours(1).nanoseconds + 1

    /// Chapters with rows, oldest first. `lastHour` is the hour of the newest key in this or an
    /// earlier chapter; nil if there is none.
    private var chapters: [(first: Int64, lastHour: Int64?)] = []
    private var open = KeyChapter()
    private var hours: [KeyChapter.Hour] = []
    /// True if the open transaction deletes the row of the oldest chapter.
    private var isCutting = false

    private var newest: Int64? { open.lastHour ?? chapters.last?.lastHour }

    // MARK: Writing

    /// Adds the key of the event at `seq`. If a new hour begins, returns a sequence: keys of events
    /// below it no longer count.
    mutating func insert(_ hash: UInt64, seq: Int64, at instant: Instant) -> Int64? {
        // Hours never decrease, even if the wall clock jumps back between an event and its commit.
        let own = IdempotencyKey.hour(of: instant)
        let hour = max(own, newest ?? own)
        let begins = hour != newest
        open.add(hash, seq: seq, hour: hour)
        guard begins else { return nil }
        note(KeyChapter.Hour(hour: hour, firstSeq: seq))
        return hours.first { !Self.isOld($0.hour, at: hour) }?.firstSeq
    }

    /// Writes the row of the full chapter whose first sequence is `first`.
    mutating func close(
        _ first: Int64, into buffer: inout RowBuffer, _ engine: any LogWriting
    ) throws(EventLogError) {
        try engine.put(.keys, first, open.encode(first, into: &buffer))
        chapters.append((first, newest))
        open = KeyChapter()
    }

    private mutating func note(_ hour: KeyChapter.Hour) {
        if hours.last.map({ $0.hour < hour.hour }) ?? true { hours.append(hour) }
    }

    /// Removes the keys of events after `last`, which were never stored.
    mutating func reopen(
        after last: Int64, _ maker: KeyChapter.Maker, _ engine: any LogReading
    ) throws(EventLogError) {
        isCutting = false
        let first = LogChapter.first(of: last + 1)
        chapters.removeAll { $0.first >= first }
        hours.removeAll { $0.firstSeq >= first }
        open = try KeyChapter(first, maker, after: chapters.last?.lastHour, engine)
        open.hours.forEach { note($0) }
    }

    // MARK: Cutting

    private static func isOld(_ hour: Int64, at now: Int64) -> Bool { hour < now - hoursKept }

    /// True if the oldest row has only keys that no longer count at `instant`.
    func hasOld(at instant: Instant) -> Bool {
        guard let oldest = chapters.first else { return false }
        let own = IdempotencyKey.hour(of: instant)
        return Self.isOld(oldest.lastHour ?? -LogTable.numberMax, at: max(own, newest ?? own))
    }

    /// Deletes the oldest row and returns the last sequence of its chapter; nil if there is no row.
    /// Call `settleCut` once the transaction is durable. The hashes are made with the log's own
    /// key, so they are not personal data and need not be overwritten.
    mutating func cut(_ engine: any LogWriting) throws(EventLogError) -> Int64? {
        guard let oldest = chapters.first else { return nil }
        try engine.delete(.keys, oldest.first...oldest.first, isPersonal: false)
        isCutting = true
        return LogChapter.last(of: oldest.first)
    }

    mutating func settleCut() {
        guard isCutting else { return }
        isCutting = false
        let gone = chapters.removeFirst()
        let next = chapters.first?.first ?? LogChapter.last(of: gone.first) + 1
        while hours.count > 1, hours[1].firstSeq <= next { hours.removeFirst() }
    }

    // MARK: Start-up

    /// Changes that start-up must write: rebuilt chapters (`made`), and rows to delete (`strays`).
    struct Repair {
        var made: [(first: Int64, chapter: KeyChapter)] = []
        /// Keys of rows that no log writes.
        var strays: [Int64] = []

        var isEmpty: Bool { made.isEmpty && strays.isEmpty }
    }

    /// Reads the rows of a log whose newest event is `last`. Calls `damage` for each bad row, and
    /// `take` for the idempotency keys since the hour of `since`, in order.
    mutating func recover(
        since: Instant, _ cut: LogCut, last: Int64, _ maker: KeyChapter.Maker,
        _ engine: any LogReading, damage: (String) -> Void, take: KeyChapter.Take
    ) throws(EventLogError) -> Repair {
        let since = IdempotencyKey.hour(of: since)
        let openFirst = LogChapter.first(of: last + 1)
        // Earlier chapters were cut. `expected` is the first chapter whose row should exist.
        var expected = LogChapter.first(of: max(cut.keys, cut.seq) + 1)
        var repair = Repair()
        func add(_ first: Int64, _ chapter: KeyChapter) {
            chapter.hours.forEach { note($0) }
            chapters.append((first, chapter.lastHour ?? newest))
            chapter.forEachHour(of: first, since: since, take)
        }
        func make(_ first: Int64) throws(EventLogError) {
            let chapter = try KeyChapter(
                first, maker, after: chapters.last?.lastHour, engine)
            repair.made.append((first, chapter))
            add(first, chapter)
        }
        // Rebuilds the chapters before `end` whose rows are missing, if they have events.
        func makeMissing(before end: Int64) throws(EventLogError) {
            var missing: ClosedRange<Int64>?
            while expected < end {
                let seq = try engine.edge(.event, .rising, in: expected...Int64.max)
                guard let seq, LogChapter.first(of: seq) < end else { break }
                let first = LogChapter.first(of: seq)
                try make(first)
                missing = (missing?.lowerBound ?? first)...LogChapter.last(of: first)
                expected = first + LogChapter.size
            }
            expected = max(expected, end)
            guard let missing else { return }
            damage(Self.line(missing) + "missing")
        }
        try engine.forEach(.keys) { first, row throws(EventLogError) in
            guard first > 0, first < openFirst, LogChapter.first(of: first) == first else {
                damage("the idempotency keys of event \(first): no log has such a row")
                return repair.strays.append(first)
            }
            try makeMissing(before: first)
            expected = max(expected, first + LogChapter.size)
            if let chapter = KeyChapter(first, row) {
                add(first, chapter)
            } else {
                damage(Self.line(first...LogChapter.last(of: first)) + "damaged")
                try make(first)
            }
        }
        try makeMissing(before: openFirst)
        try reopen(after: last, maker, engine)
        open.forEachHour(of: openFirst, since: since, take)
        return repair
    }

    private static func line(_ seqs: ClosedRange<Int64>) -> String {
        "the idempotency keys of events \(seqs.lowerBound) to \(seqs.upperBound): their row is "
    }

    /// Approximate number of idempotency keys in all rows.
    static func estimate(_ engine: any LogReading) throws(EventLogError) -> Int {
        let size = MemoryLayout<UInt64>.size + MemoryLayout<UInt16>.size
        var bytes: Int64 = 0
        try engine.lengths(.keys, 1...LogTable.numberMax) {
            bytes += $1
            return true
        }
        return Int(bytes) / size
    }
}
