import TomboloCore
import TomboloEventLog

// The way of one activity: back from its newest event, by its rows and, where it is long, by its
// snapshots.

extension LogReader {
    /// So many rows one page looks up: about 40 ms where none is in memory.
    private static let stepsMax = 20_000

    /// An activity's way, and how much of it was gone.
    private struct Way {
        let activity: Int64
        let tenant: Int64
        let newest: Int64
        var steps = 0
    }

    /// The page of an activity. nil where the way is too long or leads over a damaged row: a scan
    /// knows a way around.
    func way(_ query: EventQuery, tenant: Int64) throws(EventLogError) -> EventPage? {
        guard let activity = query.activity?.rawValue else { return nil }
        var page = EventPage(events: [], next: nil)
        let newest: Int64
        switch try self.newest(of: activity, tenant: tenant, hint: query.newest) {
        case .at(let seq): newest = seq
        case .nobodys: return page
        case .unknown: return nil
        }
        var way = Way(activity: activity, tenant: tenant, newest: newest)
        var low = try start(of: query, tenant)
        while low < newest {
            guard let high = try stone(above: low, &way),
                let seqs = try seqs(from: high, downTo: low, query, &way)
            else { return nil }
            for seq in seqs.reversed() {
                guard let event = try event(at: seq) else { return nil }
                guard event.tenantSeq > query.after else { continue }
                if let through = query.through, event.tenantSeq > through { return page }
                page.append(event)
                if page.isFull(query) {
                    page.next = seq == newest ? nil : event.tenantSeq
                    return page
                }
            }
            low = high
            if way.steps >= min(query.scanMax, Self.stepsMax), low < newest {
                page.next = try event(at: low)?.tenantSeq
                return page
            }
        }
        return page
    }

    private enum Newest {
        case at(Int64)
        case nobodys
        case unknown
    }

    /// Where the way back begins.
    private func newest(
        of activity: Int64, tenant: Int64, hint: Int64?
    ) throws(EventLogError) -> Newest {
        if let hint, let row = try numbers(at: hint), row.activity == activity {
            return row.tenant == tenant ? .at(hint) : .nobodys
        }
        let mark: ActivityMarks.Mark
        if let live = try engine.row(.head, activity, { .some(HeadRow.mark($0, $1)) }) {
            guard let live else { return .unknown }
            mark = live
        } else {
            guard let found = try RetiredDays.find(activity, engine) else { return .nobodys }
            mark = found.mark
        }
        guard mark.tenant == tenant else { return .nobodys }
        return .at(max(mark.seq, try newestWithoutHead(of: activity)))
    }

    /// Among the events that no row of a head tells of yet; 0 where it has none there.
    private func newestWithoutHead(of activity: Int64) throws(EventLogError) -> Int64 {
        let heads = try cut(.heads)
        guard heads > 0 else { return 0 }
        var newest: Int64 = 0
        try engine.scan(.event, after: heads, upTo: .max) { seq, row in
            if EventRow.unproved(row)?.activity == activity { newest = seq }
            return true
        }
        return newest
    }

    /// The activity's events after `low` up to `high`, newest first.
    private func seqs(
        from high: Int64, downTo low: Int64, _ query: EventQuery, _ way: inout Way
    ) throws(EventLogError) -> [Int64]? {
        var found: [Int64] = []
        var seq = high
        while seq > low {
            way.steps += 1
            guard way.steps <= query.scanMax, let row = try numbers(at: seq),
                row.activity == way.activity, row.previous < seq
            else { return nil }
            if Self.matches(row, query) { found.append(seq) }
            seq = row.previous
        }
        return found
    }

    // MARK: Snapshots

    /// The lowest snapshot above `low`, or the newest event: what lies between is a short way.
    private func stone(above low: Int64, _ way: inout Way) throws(EventLogError) -> Int64? {
        guard let row = try numbers(at: way.newest), row.activity == way.activity else {
            return nil
        }
        var high = way.newest
        var next = row.anchor
        while next > low {
            way.steps += 1
            guard way.steps <= Self.stepsMax, let numbers = try snapshotNumbers(at: next),
                numbers.activity == way.activity, numbers.previous < next, numbers.far < next
            else { return high }
            high = next
            next = numbers.far > low ? numbers.far : numbers.previous
        }
        return high
    }

    private func snapshotNumbers(at seq: Int64) throws(EventLogError) -> SnapshotRow.Numbers? {
        try engine.row(.snapshot, seq, SnapshotRow.numbers)
    }

    /// The newest snapshot at or before a moment.
    func snapshot(
        of activity: Int64, tenant: Int64, at asked: LogMoment, newest: Int64
    ) throws(EventLogError) -> RecoveredHead? {
        guard let row = try numbers(at: newest), row.activity == activity, row.tenant == tenant
        else { return nil }
        let cut = try cut(.log)
        guard let name = tenants.name(tenant) else { return nil }
        let moment = try bound(asked, tenant, name)
        var next = newest
        if try snapshotNumbers(at: newest) == nil { next = row.anchor }
        while next > cut {
            guard let numbers = try snapshotNumbers(at: next), numbers.activity == activity,
                numbers.previous < next, numbers.far < next
            else { return nil }
            let recordedAt = Instant(nanoseconds: numbers.recordedAt)
            if moment.includes(seq: next, recordedAt: recordedAt) {
                return try head(at: next, numbers)
            }
            let far = try snapshotNumbers(at: numbers.far)
            let leaps = far.map {
                !moment.includes(
                    seq: numbers.far, recordedAt: Instant(nanoseconds: $0.recordedAt))
            }
            next = leaps == true ? numbers.far : numbers.previous
        }
        return nil
    }

    private func head(
        at seq: Int64, _ numbers: SnapshotRow.Numbers
    ) throws(EventLogError) -> RecoveredHead? {
        guard let value = try engine.row(.snapshot, seq, SnapshotRow.value), !value.isEmpty,
            let place = try event(at: seq)?.tenantSeq
        else { return nil }
        return RecoveredHead(
            activity: ActivityNumber(numbers.activity), version: numbers.version, seq: seq,
            tenantSeq: place, value: value)
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
    }

    private func bound(
        _ moment: LogMoment, _ tenant: Int64, _ name: TenantID
    ) throws(EventLogError) -> Bound {
        switch moment {
        case .instant(let instant): return .instant(instant)
        case .tenantSeq(let last):
            var query = EventQuery(tenant: name)
            (query.after, query.limit) = (last, 1)
            let next = try scan(query, tenant: tenant).events.first
            return .seq(next.map { $0.seq - 1 } ?? .max)
        }
    }
}
