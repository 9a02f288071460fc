import TomboloCore
import TomboloEventLog

/// The idempotency keys of the last day, a row for each chapter of the log: hash and sequence, and
/// the hours that they are of, on the clock that nobody sets. The newest chapter has no row yet:
/// start-up makes its keys from its events. A day later a chapter's keys count no longer, and its
/// row goes.
struct KeyChapters {
    /// A key of the first instant of an hour counts until the last of the hour a day later.
    private static let hoursKept = IdempotencyKey.window.nanoseconds / Span.hours(1).nanoseconds + 1

    /// Those with rows, oldest first; the hour is that of the newest key, nil where neither it nor
    /// one before has any.
    private var chapters: [(first: Int64, lastHour: Int64?)] = []
    private var open = KeyChapter()
    /// Of all of them.
    private var hours: [KeyChapter.Hour] = []
    /// The row of the first chapter goes with the open transaction.
    private var isCutting = false

    private var newest: Int64? { open.lastHour ?? chapters.last?.lastHour }

    // MARK: Writing

    /// Takes in the key of the event at `seq`. Answers below which sequence no key counts any more,
    /// where an hour begins.
    mutating func insert(_ hash: UInt64, seq: Int64, at instant: Instant) -> Int64? {
        // A wall clock that jumps between an event and its commit brings no earlier hour.
        let own = IdempotencyKey.hour(of: instant)
        let hour = max(own, newest ?? own)
        let begins = hour != newest
        open.add(hash, seq: seq, hour: hour)
        guard begins else { return nil }
        note(KeyChapter.Hour(hour: hour, firstSeq: seq))
        return hours.first { !Self.isOld($0.hour, at: hour) }?.firstSeq
    }

    /// Writes the row of the chapter that begins with `first`, and is full.
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

    /// The keys after the event at `last` never came.
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

    /// Whether a row has only keys that count no longer at an instant.
    func hasOld(at instant: Instant) -> Bool {
        guard let oldest = chapters.first else { return false }
        let own = IdempotencyKey.hour(of: instant)
        return Self.isOld(oldest.lastHour ?? -LogTable.numberMax, at: max(own, newest ?? own))
    }

    /// Deletes the oldest row, and answers the last sequence that it is of; nil where there is no
    /// row. It counts once the transaction is durable: `settleCut`.
    ///
    /// Hashes under a key of the log's own are not personal data: their pages need no overwriting.
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

    /// What start-up writes: chapters whose rows are damaged or missing, as their events have them,
    /// and what is to go.
    struct Repair {
        var made: [(first: Int64, chapter: KeyChapter)] = []
        /// Keys of rows that no log has.
        var strays: [Int64] = []

        var isEmpty: Bool { made.isEmpty && strays.isEmpty }
    }

    /// Reads the keys of a log whose newest event is `last`; `damage` hears of each row that is
    /// wrong, and the keys that count since the hour of `since` are handed over in their order.
    mutating func recover(
        since: Instant, _ cut: LogCut, last: Int64, _ maker: KeyChapter.Maker,
        _ engine: any LogReading, damage: (String) -> Void, take: KeyChapter.Take
    ) throws(EventLogError) -> Repair {
        let since = IdempotencyKey.hour(of: since)
        let openFirst = LogChapter.first(of: last + 1)
        // Chapters without events came from before a cut.
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
        // Makes those that are missing before that one, and have events.
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

    /// About how many keys there are rows for.
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
