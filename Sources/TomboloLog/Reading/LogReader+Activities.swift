import TomboloCore
import TomboloEventLog

// The way of one activity: back from its newest event, by its rows and, where it is long, by its
// snapshots.

extension LogReader {
    /// So many rows one page looks up: about 40 ms where none is in memory.
    private static let stepsMax = 20_000

    /// An activity's way back from its newest event.
    private struct Way {
        let activity: Int64
        let newest: Int64
        let numbers: EventRow.Numbers
        /// Rows that were looked at.
        var steps = 0
        /// Whether one of them is behind what is asked for.
        var isPast = false
    }

    /// The page of an activity. nil where the way is too long or leads over a damaged row: a scan
    /// knows a way around.
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

    /// Where the way back begins; without numbers where no row is the tenant's, nil where nobody
    /// knows.
    private func newest(
        of activity: Int64, tenant: Int64, hint: Int64?
    ) throws(EventLogError) -> (seq: Int64, numbers: EventRow.Numbers?)? {
        if let hint, let row = try numbers(at: hint), row.activity == activity {
            return (hint, row.tenant == tenant ? row : nil)
        }
        let live = try engine.row(.head, activity) { .some(HeadRow.mark($0, $1)) }
        var mark: ActivityMarks.Mark?
        if let live {
            guard let live else { return nil }
            mark = live
        } else {
            mark = try RetiredDays.find(activity, engine)?.mark
        }
        guard let mark, mark.tenant == tenant else { return (0, nil) }
        let seq = max(mark.seq, try newestWithoutHead(of: activity))
        guard let row = try numbers(at: seq), row.activity == activity else { return nil }
        return (seq, row)
    }

    /// Among the events that no row of a head tells of yet; 0 where it has none there.
    private func newestWithoutHead(of activity: Int64) throws(EventLogError) -> Int64 {
        guard let heads = standing.heads else { return 0 }
        var newest: Int64 = 0
        try engine.scan(.event, after: heads) { seq, row in
            if EventRow.unproved(row)?.activity == activity { newest = seq }
            return true
        }
        return newest
    }

    /// The activity's rows after `low` up to `high` that are asked for, newest first: of many the
    /// oldest that make a page. nil where the way is too long or broken.
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
                // A page begins with the oldest: it has no room for so many.
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

    /// The snapshot above `low`, or the newest event, behind which a page's events are: what lies
    /// between is a short way.
    private func stone(
        above low: Int64, _ query: EventQuery, _ way: inout Way
    ) throws(EventLogError) -> Int64? {
        // A page that passes over events needs more of them.
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

    /// So many events a page that passes over some looks at with one question.
    private static let reach: Int64 = 4_096

    /// Steps from snapshot to snapshot, newest first, as far as `leap` says and `take` wants, or to
    /// one that is damaged.
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

    /// The newest snapshot at or before a moment.
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

    /// A moment by the log's own sequences.
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
