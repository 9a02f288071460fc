import TomboloAPI
import TomboloCore

/// Commands and facts are two sequences; this makes one of them, by the time at which they were
/// recorded.
struct LogMerge {
    /// Entries in order, each with the position behind it.
    private(set) var entries: [(entry: LogEntry, cursor: LogCursor)] = []
    /// The position behind all that was looked at.
    private(set) var cursor: LogCursor
    private(set) var hasMore = false

    /// - Parameters:
    ///   - commands: a page of them after the cursor, oldest first, and where the rest of it
    ///     begins.
    ///   - facts: likewise.
    ///   - end: up to where a page without a rest has looked; nil: up to its last entry.
    init(
        commands: (entries: [LogEntry], next: Int64?), facts: (entries: [LogEntry], next: Int64?),
        after cursor: LogCursor, limit: Int, end: LogPlace? = nil
    ) {
        self.cursor = cursor
        var left = commands.entries[...]
        var right = facts.entries[...]
        while entries.count < limit {
            let takesLeft: Bool
            switch (left.first, right.first) {
            case (let one?, let other?): takesLeft = one.recordedAt <= other.recordedAt
            case (_, nil): takesLeft = true
            case (nil, _): takesLeft = false
            }
            // Each sequence stays in its order, whatever the clock did. Only where the other page
            // is used up and has a rest may something older lie there: one of both is used up
            // then, so that the cursor always moves on.
            let isOtherUsedUp = takesLeft ? right.isEmpty : left.isEmpty
            guard let entry = takesLeft ? left.first : right.first,
                !isOtherUsedUp || entry.recordedAt <= Self.horizon(takesLeft ? facts : commands)
            else { break }
            if takesLeft {
                left.removeFirst()
                self.cursor.place.command = entry.tenantSeq
            } else {
                right.removeFirst()
                self.cursor.place.fact = entry.tenantSeq
            }
            entries.append((entry, self.cursor))
        }
        // A page used up whose rest begins later (it was cut by the rows it may scan): skip to
        // there.
        if left.isEmpty, let next = commands.next ?? end?.command {
            self.cursor.place.command = max(next, self.cursor.place.command)
        }
        if right.isEmpty, let next = facts.next ?? end?.fact {
            self.cursor.place.fact = max(next, self.cursor.place.fact)
        }
        hasMore = !left.isEmpty || !right.isEmpty || commands.next != nil || facts.next != nil
    }

    var page: LogPage { LogPage(entries: entries, nextCursor: hasMore ? cursor : nil) }

    /// What lies beyond a page that has a rest may be older than the other page's entries.
    private static func horizon(_ page: (entries: [LogEntry], next: Int64?)) -> Instant {
        guard page.next != nil else { return .distantFuture }
        return page.entries.last?.recordedAt ?? .distantPast
    }
}

extension LogMerge {
    /// One sequence with an entry for rows that cannot be read, in the order of their places.
    static func sequence(
        _ kind: String, _ entries: [LogEntry], damaged: [ClosedRange<Int64>]
    ) -> [LogEntry] {
        guard !damaged.isEmpty else { return entries }
        var found: [LogEntry] = []
        var left = damaged[...]
        var at = entries.first?.recordedAt ?? .distantPast
        func places(_ range: ClosedRange<Int64>) -> LogEntry {
            .damaged(DamagedPlaces(kind: kind, range), at: at)
        }
        for entry in entries {
            while let range = left.first, range.upperBound < entry.tenantSeq {
                found.append(places(range))
                left.removeFirst()
            }
            found.append(entry)
            at = entry.recordedAt
        }
        return found + left.map(places)
    }

    /// The same with an entry for rows that the log has deleted.
    ///
    /// - Parameters:
    ///   - first: the place of the first row behind `place` that the log has, be it asked for or
    ///     not: places have no gap.
    ///   - at: when it was recorded.
    static func sequence(
        _ kind: String, _ entries: [LogEntry], damaged: [ClosedRange<Int64>], after place: Int64,
        first: Int64?, at: Instant?
    ) -> [LogEntry] {
        let rows = sequence(kind, entries, damaged: damaged)
        let first = min(first ?? .max, damaged.first?.lowerBound ?? .max)
        guard first < .max, first > place + 1 else { return rows }
        let cut = RowsLeftOut(kind: kind, after: place, through: first - 1)
        return [.cut(cut, at: at ?? rows.first?.recordedAt ?? .distantPast)] + rows
    }
}
