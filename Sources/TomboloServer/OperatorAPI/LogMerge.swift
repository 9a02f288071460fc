import TomboloAPI
import TomboloCore

/// Merges the log's two sequences, commands and facts, by the times at which rows were recorded.
struct LogMerge {
    /// The merged entries in order. Each has the cursor with which reading goes on after it.
    private(set) var entries: [(entry: LogEntry, cursor: LogCursor)] = []
    /// The position after all merged entries.
    private(set) var cursor: LogCursor
    private(set) var hasMore = false

    /// - Parameters:
    ///   - commands: commands after the cursor, oldest first; `next` is where the next page begins.
    ///   - facts: the same for facts.
    ///   - end: the place up to which a page without `next` was read; nil: up to its last entry.
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
            // Each sequence keeps its own order, even if the clock jumped. If the other page is
            // used up but has a next page, stop at entries later than its last one: the next page
            // may begin with an older entry. The cursor always moves on.
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
        // A page is used up, and its scan went on past its last entry: move the cursor there.
        if left.isEmpty, let next = commands.next ?? end?.command {
            self.cursor.place.command = max(next, self.cursor.place.command)
        }
        if right.isEmpty, let next = facts.next ?? end?.fact {
            self.cursor.place.fact = max(next, self.cursor.place.fact)
        }
        hasMore = !left.isEmpty || !right.isEmpty || commands.next != nil || facts.next != nil
    }

    var page: LogPage { LogPage(entries: entries, nextCursor: hasMore ? cursor : nil) }

    /// Later entries of the other sequence must wait: an unread page cannot begin before it.
    private static func horizon(_ page: (entries: [LogEntry], next: Int64?)) -> Instant {
        guard page.next != nil else { return .distantFuture }
        return page.entries.last?.recordedAt ?? .distantPast
    }
}

extension LogMerge {
    /// One sequence, with an entry added for each range of damaged rows, in order.
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

    /// Like the function above, with an entry if rows after `place` were deleted from the log.
    ///
    /// - Parameters:
    ///   - first: the place of the log's first row after `place`, even if the filter excludes it.
    ///     Places are consecutive, so a gap means deleted rows.
    ///   - at: when that row was recorded.
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
