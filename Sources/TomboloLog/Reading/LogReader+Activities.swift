import TomboloCore
import TomboloEventLog

// Pages of one activity. They follow its rows backwards from the newest event, and skip many rows
// by snapshots if the activity is long.

extension LogReader {
    /// Maximum number of rows that one page reads: about 40 ms if no row is in memory.
    private static let stepsMax = 20_000

    /// State of a walk from an activity's newest event backwards.
    private struct Way {
        let activity: Int64
        let newest: Int64
        let numbers: EventRow.Numbers
        /// Number of examined rows.
        var steps = 0
        /// True once the walk has reached a row before the requested range.
        var isPast = false
    }

    /// The page of an activity. Returns nil if the walk is too long or meets a damaged row: then
    /// scan the log instead.
    func way(_ query: EventQuery, tenant: Int64) throws(EventLogError) -> EventPage? {
        guard let activity = query.activity?.rawValue else { return nil }
        var page = EventPage(events: [], next: nil)
        guard let (newest, numbers) = try newest(of: activity, tenant: tenant, hint: query.newest)
        else { return nil }
        guard let numbers else { return page }
        var way = Way(activity: activity, newest: newest, numbers: numbers)
        var low = try start(of: query, tenant)
        while low < newest {
            guard let high = try stone(above: low, query, &way),
                let rows = try rows(from: high, downTo: low, query, &way)
            else { return nil }
            for (seq, row) in rows.reversed() {
                guard let event = decode(seq, row.span.bytes) else { return nil }
                page.append(event)
                if page.isFull(query) {
                    page.next = seq == newest ? nil : event.tenantSeq
                    return page
                }
            }
            if way.isPast { return page }
            low = high
            if way.steps >= min(query.scanMax, Self.stepsMax), low < newest {
                page.next = try event(at: low)?.tenantSeq
                return page
            }
        }
        return page
    }

    /// The activity's newest event, with nil `numbers` if the tenant has no such activity; nil if
    /// it cannot be found.
    private func newest(
        of activity: Int64, tenant: Int64, hint: Int64?
    ) throws(EventLogError) -> (seq: Int64, numbers: EventRow.Numbers?)? {
        if let hint, let row = try numbers(at: hint), row.activity == activity {
            return (hint, row.tenant == tenant ? row : nil)
        }
        let live = try engine.row(.head, activity) { .some(HeadRow.position($0, $1)) }
        var position: ActivityPosition?
        if let live {
            guard let live else { return nil }
            position = live
        } else {
            position = try RetiredDays.find(activity, engine)?.position
        }
        guard let position, position.tenant == tenant else { return (0, nil) }
        let seq = max(position.seq, try newestWithoutHead(of: activity))
        guard let row = try numbers(at: seq), row.activity == activity else { return nil }
        return (seq, row)
    }

    /// The activity's newest event after the last that rows of heads include; 0 if there is none.
    private func newestWithoutHead(of activity: Int64) throws(EventLogError) -> Int64 {
        guard let heads = standing.heads else { return 0 }
        var newest: Int64 = 0
        try engine.scan(.event, after: heads) { seq, row in
            if EventRow.unproved(row)?.activity == activity { newest = seq }
            return true
        }
        return newest
    }

    /// The activity's matching rows above `low` up to `high`, oldest first: the oldest ones that
    /// make a page. Returns nil if the walk is too long or broken.
    private func rows(
        from high: Int64, downTo low: Int64, _ query: EventQuery, _ way: inout Way
    ) throws(EventLogError) -> [(seq: Int64, row: [UInt8])]? {
        var kept: [(seq: Int64, row: [UInt8], body: Int)] = []
        var (first, bytes) = (0, 0)
        var (next, steps, isPast) = (high, way.steps, way.isPast)
        try engine.trail(.events, from: high) { seq, row in
            steps += 1
            guard seq == next, steps <= query.scanMax, let numbers = EventRow.numbers(seq, row),
                numbers.activity == way.activity
            else { return false }
            next = numbers.previous
            let tenantSeq = EventRow.tenantSeq(numbers, row, at: seq)
            if tenantSeq > query.through ?? .max {
                isPast = true
            } else if Self.matches(numbers, query), tenantSeq > query.after {
                kept.append((seq, row.array(from: 0), row.byteCount - numbers.bodyStart))
                bytes += row.byteCount - numbers.bodyStart
                // The page needs the oldest rows: drop newer ones that no longer fit.
                while kept.count - first > query.limit
                    || kept.count - first > 1 && bytes - kept[first].body >= query.bytesMax
                {
                    bytes -= kept[first].body
                    kept[first].row = []
                    first += 1
                }
            }
            return next > low
        }
        (way.steps, way.isPast) = (steps, isPast)
        return next > low ? nil : kept[first...].map { ($0.seq, $0.row) }
    }

    // MARK: Snapshots

    /// The event where the walk for a page after `low` should begin: a snapshot not far after the
    /// page's events, or the newest event.
    private func stone(
        above low: Int64, _ query: EventQuery, _ way: inout Way
    ) throws(EventLogError) -> Int64? {
        // With a filter, more events must be examined to fill a page.
        let passes = query.kind != nil || query.from != nil || query.until != nil
        let reach = SnapshotRow.interval * 2 + (passes ? Self.reach : Int64(query.limit))
        var stones = [(seq: way.newest, version: way.numbers.version)]
        try snapshots(of: way.activity, from: way.numbers.anchor, .above(low)) { seq, numbers, _ in
            guard seq > low, stones.count <= Self.stepsMax else { return false }
            stones.append((seq, numbers.version))
            return true
        }
        way.steps += stones.count
        guard let lowest = stones.last else { return nil }
        return stones.first { $0.version <= lowest.version + reach }?.seq
    }

    /// Number of events that a page with a filter examines.
    private static let reach: Int64 = 4_096

    /// Follows snapshots, newest first, until `take` returns false, one is damaged, or `leap` ends.
    private func snapshots(
        of activity: Int64, from anchor: Int64, _ leap: LogTrail.Leap,
        _ take: (Int64, SnapshotRow.Numbers, RawSpan) -> Bool
    ) throws(EventLogError) {
        try engine.trail(.snapshots(leap), from: anchor) { seq, row in
            guard let numbers = SnapshotRow.numbers(seq, row), numbers.activity == activity else {
                return false
            }
            return take(seq, numbers, row)
        }
    }

    /// The newest snapshot of the activity at or before a moment; nil if there is none.
    func snapshot(
        of activity: Int64, tenant: Int64, at asked: LogMoment, newest: Int64
    ) throws(EventLogError) -> RecoveredHead? {
        guard let row = try numbers(at: newest), row.activity == activity, row.tenant == tenant,
            let name = tenants.name(tenant)
        else { return nil }
        let moment = try bound(asked, tenant, name)
        var found: (seq: Int64, version: Int64, value: [UInt8])?
        for from in [SnapshotRow.isDue(at: row.version) ? newest : 0, row.anchor]
        where found == nil {
            try snapshots(of: activity, from: from, moment.leap) { seq, numbers, row in
                guard seq > standing.cut else { return false }
                let recordedAt = Instant(nanoseconds: numbers.recordedAt)
                guard moment.includes(seq: seq, recordedAt: recordedAt) else { return true }
                found = (seq, numbers.version, SnapshotRow.value(seq, row))
                return false
            }
        }
        guard let (seq, version, value) = found, !value.isEmpty,
            let place = try event(at: seq)?.tenantSeq
        else { return nil }
        return RecoveredHead(
            activity: ActivityNumber(activity), version: version, seq: seq, tenantSeq: place,
            value: value)
    }

    /// A moment as the log's rows can be compared with it.
    private enum Bound {
        case instant(Instant)
        case seq(Int64)

        func includes(seq: Int64, recordedAt: Instant) -> Bool {
            switch self {
            case .instant(let instant): recordedAt <= instant
            case .seq(let last): seq <= last
            }
        }

        var leap: LogTrail.Leap {
            switch self {
            case .instant(let instant): .after(instant.nanoseconds)
            case .seq(let last): .above(last)
            }
        }
    }

    private func bound(
        _ moment: LogMoment, _ tenant: Int64, _ name: TenantID
    ) throws(EventLogError) -> Bound {
        switch moment {
        case .instant(let instant): return .instant(instant)
        case .tenantSeq(let last):
            if standing.isSole { return .seq(last) }
            var query = EventQuery(tenant: name)
            (query.after, query.limit) = (last, 1)
            let next = try scan(query, tenant: tenant).events.first
            return .seq(next.map { $0.seq - 1 } ?? .max)
        }
    }
}
