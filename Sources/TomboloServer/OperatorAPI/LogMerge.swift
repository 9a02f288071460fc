import TomboloAPI
import TomboloCore

/// Commands and facts are two sequences; this makes one of them, by the time at which they were
/// recorded.
struct LogMerge {
    private var entries: [LogEntry] = []
    private var cursor: LogCursor
    private var hasMore = false
    private let damaged: [DamagedPlaces]

    /// - Parameters:
    ///   - commands: a page of them after the cursor, oldest first, and where the rest of it
    ///     begins.
    ///   - facts: likewise.
    init(
        commands: (entries: [LogEntry], next: Int64?), facts: (entries: [LogEntry], next: Int64?),
        after cursor: LogCursor, limit: Int, damaged: [DamagedPlaces] = []
    ) {
        self.cursor = cursor
        self.damaged = damaged
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
            entries.append(entry)
            if takesLeft {
                left.removeFirst()
                self.cursor.command = entry.tenantSeq
            } else {
                right.removeFirst()
                self.cursor.fact = entry.tenantSeq
            }
        }
        // A page used up whose rest begins later (it was cut by the rows it may scan): skip to
        // there.
        if left.isEmpty, let next = commands.next { self.cursor.command = next }
        if right.isEmpty, let next = facts.next { self.cursor.fact = next }
        hasMore = !left.isEmpty || !right.isEmpty || commands.next != nil || facts.next != nil
    }

    /// Damage behind what it has is for the next page to tell.
    var page: LogPage {
        LogPage(
            entries: entries, nextCursor: hasMore ? cursor.text : nil,
            damaged: damaged.filter { places in
                let read = places.kind == "fact" ? cursor.fact : cursor.command
                return !hasMore || places.places.lowerBound <= read
            })
    }

    /// What lies beyond a page that has a rest may be older than the other page's entries.
    private static func horizon(_ page: (entries: [LogEntry], next: Int64?)) -> Instant {
        guard page.next != nil else { return .distantFuture }
        return page.entries.last?.recordedAt ?? .distantPast
    }
}
