import TomboloCore
import TomboloEventLog

// Forward over the log, passing over blocks that hold nothing of what is asked for.

extension LogReader {
    /// Where a walk has come.
    private struct Walk {
        var page = EventPage(events: [], next: nil)
        /// All up to there was looked at, or passed over.
        var position: Int64
        var rows = 0
        let last: Int64
        var isDone = false
    }

    func scan(_ query: EventQuery, tenant: Int64) throws(SQLiteError) -> EventPage {
        var walk = Walk(
            position: max(query.after, try integer(eventCut)), last: try integer(lastSeq))
        guard walk.position < walk.last else { return walk.page }
        blocksFrom.bind(LogChapter.first(of: walk.position + 1), at: 1)
        defer { blocksFrom.reset() }
        while !walk.isDone, try blocksFrom.step() {
            let first = blocksFrom.integer(0)
            // Where a block has no row, its events are looked at one by one.
            try read(upTo: min(first - 1, walk.last), query, tenant, &walk)
            guard !walk.isDone else { break }
            guard let chapter = LogChapter(blocksFrom) else {
                try read(upTo: min(first + LogChapter.size - 1, walk.last), query, tenant, &walk)
                continue
            }
            try chapter.forEach { offset, block throws(SQLiteError) in
                let end = first + offset + LogBlock.size - 1
                guard !walk.isDone, end > walk.position else { return }
                if block.mayHave(tenant, query.kind, from: query.from, until: query.until) {
                    try read(upTo: min(end, walk.last), query, tenant, &walk)
                } else {
                    walk.position = end
                }
            }
        }
        if !walk.isDone { try read(upTo: walk.last, query, tenant, &walk) }
        if walk.position < walk.last { walk.page.next = walk.position }
        return walk.page
    }

    /// Looks at the rows up to and with `end`, until the page is full or enough were looked at.
    private func read(
        upTo end: Int64, _ query: EventQuery, _ tenant: Int64, _ walk: inout Walk
    ) throws(SQLiteError) {
        guard walk.position < end else { return }
        let left = Int64(query.scanMax - walk.rows)
        let bound = min(end, walk.position + left)
        eventsBetween.bind(walk.position, at: 1)
        eventsBetween.bind(bound, at: 2)
        defer { eventsBetween.reset() }
        while try eventsBetween.step() {
            walk.rows += 1
            guard Self.matches(eventsBetween, query, tenant), let event = decode(eventsBetween)
            else { continue }
            walk.page.append(event)
            if walk.page.isFull(query) {
                walk.position = event.seq
                walk.isDone = true
                return
            }
        }
        walk.position = bound
        walk.isDone = walk.rows >= query.scanMax || bound < end
    }

    /// By what the row says, whether it is right or not: its checksum is for those that count.
    private static func matches(
        _ row: borrowing Statement, _ query: EventQuery, _ tenant: Int64
    ) -> Bool {
        guard let numbers = EventRow.unproved(row.bytes(1)) else { return true }
        return numbers.tenant == tenant
            && (query.activity.map { $0.rawValue == numbers.activity } ?? true)
            && matches(numbers, query)
    }

    /// By kind and time alone.
    static func matches(_ numbers: EventRow.Numbers, _ query: EventQuery) -> Bool {
        guard let kind = EventKind(rawValue: numbers.kind) else { return false }
        return query.matches(kind, recordedAt: Instant(nanoseconds: numbers.recordedAt))
    }
}
