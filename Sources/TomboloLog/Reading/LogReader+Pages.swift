import TomboloCore
import TomboloEventLog

// Forward over the log, passing over blocks that hold nothing of what is asked for.

extension LogReader {
    /// Where a walk has come.
    private struct Walk {
        var page = EventPage(events: [], next: nil)
        /// All up to there was looked at, or passed over.
        var position: Int64
        /// Rows of the tenant that were looked at; the last of them, and where it is in the log.
        var rows = 0
        var tenantSeq: Int64
        var own: Int64
        let last: Int64
        var isDone = false
        /// All rows of the tenant up to `position` were looked at, not only passed over.
        var isCounted = true
        /// Whether somebody has asked where the next row of the tenant is.
        var hasAsked = false
        /// Nothing of the tenant is before this place.
        var leap: Int64?
        /// Whether no row between the query's start and the first one may have been cut.
        var isWhole: Bool
    }

    /// So many rows are looked at for damaged ones where a place is missing.
    private static let gapMax: Int64 = 4_096

    func scan(_ query: EventQuery, tenant: Int64) throws(EventLogError) -> EventPage {
        let newest = try engine.edge(.event, .falling, in: 1 ... .max) ?? 0
        guard query.after < query.through ?? .max else { return EventPage(events: [], next: nil) }
        let start = try start(of: query, tenant)
        let cut = try cut(.log)
        var walk = Walk(
            position: start, tenantSeq: query.after, own: start, last: newest,
            isWhole: cut == 0 || start > cut)
        repeat {
            if let leap = walk.leap { walk.position = leap }
            walk.leap = nil
            try stretch(query, tenant, &walk)
        } while walk.leap != nil && !walk.isDone
        if let through = query.through, walk.page.next == nil, through < .max {
            try lookForDamage(before: through + 1, at: walk.position + 1, &walk)
        }
        return walk.page
    }

    /// Between two rows of a tenant places are missing: damaged rows there had them. After damage
    /// a tenant may also go on at a higher place, and then none is between.
    private func lookForDamage(
        before tenantSeq: Int64, at seq: Int64, _ walk: inout Walk
    ) throws(EventLogError) {
        guard tenantSeq - walk.tenantSeq > 1, walk.isCounted, walk.isWhole else { return }
        var isDamaged = false
        var place = max(walk.own + 1, seq - Self.gapMax)
        while place < seq {
            if try event(at: place) == nil { isDamaged = true }
            place += 1
        }
        if isDamaged { walk.page.damaged.append(walk.tenantSeq + 1...tenantSeq - 1) }
    }

    /// Behind it are the rows that are asked for.
    func start(of query: EventQuery, _ tenant: Int64) throws(EventLogError) -> Int64 {
        let cut = try cut(.log)
        if let place = query.place { return max(place, cut) }
        return max(try place(.event, tenant, after: query.after), cut)
    }

    /// Chapter by chapter, until the page is full or a leap is due.
    private func stretch(
        _ query: EventQuery, _ tenant: Int64, _ walk: inout Walk
    ) throws(EventLogError) {
        guard walk.position < walk.last else { return }
        let firstBlock = LogChapter.first(of: walk.position + 1)
        try engine.scan(.block, after: firstBlock - 1) {
            first, row throws(EventLogError) in
            // Where a block has no row, its events are looked at one by one.
            try read(upTo: min(first - 1, walk.last), query, tenant, &walk)
            guard try goesOn(tenant, &walk) else { return false }
            guard let chapter = LogChapter(first, row) else {
                try read(upTo: min(first + LogChapter.size - 1, walk.last), query, tenant, &walk)
                return !walk.isDone
            }
            try chapter.forEach { offset, block throws(EventLogError) in
                let end = first + offset + LogBlock.size - 1
                guard !walk.isDone, end > walk.position else { return }
                if block.mayHave(tenant, query.kind, from: query.from, until: query.until) {
                    try read(upTo: min(end, walk.last), query, tenant, &walk)
                } else {
                    walk.position = end
                    if block.mayHave(tenant, nil, from: nil, until: nil) { walk.isCounted = false }
                }
            }
            return !walk.isDone
        }
        // The newest chapter has no row yet.
        while try goesOn(tenant, &walk), walk.position < walk.last {
            let end = min(walk.position + Waypoint.spacing, walk.last)
            try read(upTo: end, query, tenant, &walk)
        }
    }

    /// Whether the walk goes on here; behind many rows of others it may leap instead.
    private func goesOn(_ tenant: Int64, _ walk: inout Walk) throws(EventLogError) -> Bool {
        let isFar = walk.position - walk.own > Waypoint.spacing
        guard !walk.isDone, walk.isCounted, isFar, !walk.hasAsked else { return !walk.isDone }
        walk.hasAsked = true
        switch try leap(.event, tenant, after: walk.tenantSeq, from: walk.position) {
        case .to(let seq) where seq > walk.position: walk.leap = seq
        case .nothing: walk.isDone = true
        case .to, .none: break
        }
        return walk.leap == nil && !walk.isDone
    }

    /// Looks at the rows up to and with `end`, until the page is full or enough were looked at.
    private func read(
        upTo end: Int64, _ query: EventQuery, _ tenant: Int64, _ walk: inout Walk
    ) throws(EventLogError) {
        guard walk.position < end else { return }
        var isThrough = true
        try engine.scan(.event, after: walk.position, upTo: end) {
            seq, row throws(EventLogError) in
            isThrough = try look(at: seq, row, query, tenant, &walk)
            return isThrough
        }
        if isThrough { walk.position = end }
    }

    /// False where the walk ends here.
    private func look(
        at seq: Int64, _ row: RawSpan, _ query: EventQuery, _ tenant: Int64, _ walk: inout Walk
    ) throws(EventLogError) -> Bool {
        guard let numbers = EventRow.unproved(row) else {
            _ = decode(seq, row)
            return true
        }
        // By what the row says, whether it is right or not: its checksum is for those that count.
        guard numbers.tenant == tenant else { return true }
        let tenantSeq = EventRow.tenantSeq(numbers, row, at: seq)
        guard tenantSeq > walk.tenantSeq else { return true }
        if let through = query.through, tenantSeq > through {
            walk.isDone = true
            walk.position = seq - 1
            return false
        }
        let isAskedFor =
            (query.activity.map { $0.rawValue == numbers.activity } ?? true)
            && Self.matches(numbers, query)
        if isAskedFor {
            guard let event = decode(seq, row) else { return true }
            try lookForDamage(before: tenantSeq, at: seq, &walk)
            walk.page.append(event)
        } else {
            try lookForDamage(before: tenantSeq, at: seq, &walk)
        }
        look(at: seq, tenantSeq, query, &walk)
        return !walk.isDone
    }

    /// A row of the tenant was looked at.
    private func look(at seq: Int64, _ tenantSeq: Int64, _ query: EventQuery, _ walk: inout Walk) {
        walk.rows += 1
        (walk.hasAsked, walk.isCounted, walk.isWhole) = (false, true, true)
        (walk.position, walk.own, walk.tenantSeq) = (seq, seq, tenantSeq)
        if tenantSeq == query.through {
            walk.isDone = true
        } else if walk.page.isFull(query) || walk.rows >= query.scanMax {
            walk.isDone = true
            if seq < walk.last { walk.page.next = tenantSeq }
        }
    }

    /// By kind and time alone.
    static func matches(_ numbers: EventRow.Numbers, _ query: EventQuery) -> Bool {
        guard let kind = EventKind(rawValue: numbers.kind) else { return false }
        return query.matches(kind, recordedAt: Instant(nanoseconds: numbers.recordedAt))
    }
}
