import TomboloCore
import TomboloEventLog

// Pages of the log. They scan forward and skip blocks that cannot match.

extension LogReader {
    /// State of a walk over the events.
    private struct Walk {
        let query: EventQuery
        let tenant: Int64
        let last: Int64
        var page = EventPage(events: [], next: nil)
        /// All rows up to this sequence were examined or skipped.
        var position: Int64
        /// Number of the tenant's rows examined; then the place (`tenantSeq`) and sequence (`own`)
        /// of the last one.
        var rows = 0
        var tenantSeq: Int64
        var own: Int64
        var isDone = false
        /// True if no rows of the tenant up to `position` were skipped: places can be counted.
        var isCounted = true
        /// True if a waypoint was already looked up for the tenant's next row.
        var hasAsked = false
        /// True if no rows after the query's start can have been cut.
        var isWhole: Bool
        /// Missing places of the tenant, and the sequences where their rows would be.
        var gaps: [(places: ClosedRange<Int64>, seqs: ClosedRange<Int64>)] = []

        /// True if the tenant's last row is far behind `position`: a waypoint skips rows of others.
        var mayLeap: Bool {
            isCounted && !hasAsked && position - own > Waypoint.spacing
        }

        /// If places are missing before a row of the tenant, notes them: damaged rows may have had
        /// them. After damage, a tenant may also continue at a higher place, with no row missing.
        mutating func noteGap(before tenantSeq: Int64, at seq: Int64) {
            guard tenantSeq - self.tenantSeq > 1, isCounted, isWhole else { return }
            let first = max(own + 1, seq - LogReader.gapMax)
            guard first < seq else { return }
            gaps.append((self.tenantSeq + 1...tenantSeq - 1, first...seq - 1))
        }
    }

    /// A range of the log that is read or skipped.
    private struct Step {
        var end: Int64
        var isRead: Bool
        /// True if the range is skipped although it has rows of the tenant.
        var hasRows = false
    }

    /// Maximum number of rows that are searched for a damaged one if a place is missing.
    private static let gapMax: Int64 = 4_096
    /// Number of chapters that one call reads.
    private static let chaptersAtOnce = 64

    func scan(_ query: EventQuery, tenant: Int64) throws(EventLogError) -> EventPage {
        guard query.after < query.through ?? .max else { return EventPage(events: [], next: nil) }
        let start = try start(of: query, tenant)
        var walk = Walk(
            query: query, tenant: tenant, last: standing.event, position: start,
            tenantSeq: query.after, own: start, isWhole: standing.cut == 0 || start > standing.cut)
        while !walk.isDone, walk.position < walk.last {
            if walk.mayLeap { try leap(&walk) }
            try read(try steps(walk), &walk)
        }
        if let through = query.through, walk.page.next == nil, through < .max {
            walk.noteGap(before: through + 1, at: walk.position + 1)
        }
        try lookForDamage(&walk)
        return walk.page
    }

    /// The sequence after which the requested rows begin.
    func start(of query: EventQuery, _ tenant: Int64) throws(EventLogError) -> Int64 {
        if let place = query.place { return max(place, standing.cut) }
        return max(try place(.event, tenant, after: query.after), standing.cut)
    }

    private func leap(_ walk: inout Walk) throws(EventLogError) {
        walk.hasAsked = true
        switch try leap(.event, walk.tenant, after: walk.tenantSeq, from: walk.position) {
        case .to(let seq): walk.position = max(walk.position, seq)
        case .nothing: walk.isDone = true
        case .none: break
        }
    }

    /// The next ranges, from the block summaries: up to the log's end, or enough for a page.
    private func steps(_ walk: Walk) throws(EventLogError) -> [Step] {
        guard !walk.isDone, walk.position < walk.last else { return [] }
        let first = LogChapter.first(of: walk.position + 1)
        var steps: [Step] = []
        var (chapters, blocks, position) = (0, 0, walk.position)
        var isStopped = false
        func add(through end: Int64, isRead: Bool, hasRows: Bool = false) {
            guard end > position else { return }
            position = min(end, walk.last)
            steps.append(Step(end: position, isRead: isRead, hasRows: hasRows))
        }
        // The newest chapter has no row in `block` yet: read it all.
        guard LogChapter.last(of: first) <= walk.last else {
            return [Step(end: walk.last, isRead: true)]
        }
        try engine.scan(.block, after: first - 1, upTo: walk.last) { first, row in
            // A chapter without a row: its events are examined one by one.
            add(through: first - 1, isRead: true)
            if let chapter = LogChapter(first, row) {
                chapter.forEach { offset, block in
                    let isAskedFor = block.mayHave(
                        walk.tenant, walk.query.kind, from: walk.query.from,
                        until: walk.query.until)
                    add(
                        through: first + offset + RowBlock.size - 1, isRead: isAskedFor,
                        hasRows: block.mayHave(walk.tenant, nil, from: nil, until: nil))
                    if isAskedFor { blocks += 1 }
                }
            } else {
                add(through: LogChapter.last(of: first), isRead: true)
            }
            chapters += 1
            isStopped = chapters == Self.chaptersAtOnce || blocks >= min(64, walk.query.limit)
            return !isStopped
        }
        if !isStopped { add(through: walk.last, isRead: true) }
        return steps
    }

    /// Reads the ranges until the page is full, enough rows were examined, or a waypoint may help.
    private func read(_ steps: [Step], _ walk: inout Walk) throws(EventLogError) {
        var next = 0
        func pass(_ walk: inout Walk, before seq: Int64) {
            while next < steps.count, steps[next].end < seq {
                walk.position = max(walk.position, steps[next].end)
                if !steps[next].isRead, steps[next].hasRows { walk.isCounted = false }
                next += 1
            }
        }
        var ranges: [ClosedRange<Int64>] = []
        var position = walk.position
        for step in steps {
            if step.isRead, position < step.end { ranges.append(position + 1...step.end) }
            position = max(position, step.end)
        }
        var isThrough = true
        if !ranges.isEmpty {
            try engine.scan(.event, ranges, .rising) { seq, row in
                pass(&walk, before: seq)
                isThrough = look(at: seq, row, &walk)
                return isThrough
            }
        }
        if isThrough { pass(&walk, before: .max) }
    }

    /// Examines one row. Returns false if the walk ends or pauses after it.
    private func look(at seq: Int64, _ row: RawSpan, _ walk: inout Walk) -> Bool {
        guard let numbers = EventRow.unproved(row) else {
            _ = decode(seq, row)
            return true
        }
        // The row is used without checking its checksum; it is verified only for rows that match.
        guard numbers.tenant == walk.tenant else {
            walk.position = seq
            return !walk.mayLeap
        }
        let query = walk.query
        let tenantSeq = EventRow.tenantSeq(numbers, row, at: seq)
        guard tenantSeq > walk.tenantSeq else { return true }
        if let through = query.through, tenantSeq > through {
            walk.isDone = true
            walk.position = seq - 1
            return false
        }
        var event: RecordedEvent?
        if query.activity?.rawValue ?? numbers.activity == numbers.activity,
            Self.matches(numbers, query)
        {
            event = decode(seq, row)
            if event == nil { return true }
        }
        walk.noteGap(before: tenantSeq, at: seq)
        if let event { walk.page.append(event) }
        walk.rows += 1
        (walk.hasAsked, walk.isCounted, walk.isWhole) = (false, true, true)
        (walk.position, walk.own, walk.tenantSeq) = (seq, seq, tenantSeq)
        if tenantSeq == query.through {
            walk.isDone = true
        } else if walk.page.isFull(query) || walk.rows >= query.scanMax {
            walk.isDone = true
            if seq < walk.last { walk.page.next = tenantSeq }
        }
        return !walk.isDone
    }

    /// Searches for damaged rows where places are missing.
    private func lookForDamage(_ walk: inout Walk) throws(EventLogError) {
        guard !walk.gaps.isEmpty else { return }
        var right = [Int64](repeating: 0, count: walk.gaps.count)
        var gap = 0
        try engine.scan(.event, walk.gaps.map(\.seqs), .rising) { seq, row in
            while !walk.gaps[gap].seqs.contains(seq) { gap += 1 }
            if decode(seq, row) != nil { right[gap] += 1 }
            return true
        }
        for (gap, right) in zip(walk.gaps, right) where right < Int64(gap.seqs.count) {
            walk.page.damaged.append(gap.places)
        }
    }

    static func matches(_ numbers: EventRow.Numbers, _ query: EventQuery) -> Bool {
        guard let kind = EventKind(rawValue: numbers.kind) else { return false }
        return query.matches(kind, recordedAt: Instant(nanoseconds: numbers.recordedAt))
    }
}
