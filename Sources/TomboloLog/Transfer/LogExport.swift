package import TomboloCore
package import TomboloEventLog

/// One item of a log, for export and import.
package enum LogItem: Sendable {
    /// The first item: the key of the log's hash function (two words), and the time of the last
    /// restore. Cursors and ids of deliveries depend on both.
    case identity(hashKey: [UInt64], restoredAt: Instant?)
    /// The second item: how far history was cut, and the highest activity number ever assigned.
    case cut(seq: Int64, fact: Int64, activity: Int64)
    /// How far the wall clock was ahead of the steady clock from these rows on: `ClockLeads`.
    case lead(event: Int64, fact: Int64, seconds: Int64)
    case event(RecordedEvent)
    /// The activity's snapshot at the event of the item before; `value` is empty if it was erased.
    /// See `SnapshotRow`.
    case snapshot(ActivityNumber, value: [UInt8], seq: Int64)
    case fact(RecordedFact)
    /// `retiredDay` is the day of the end, in days since 1970; nil if the activity is live.
    case head(RecoveredHead, TenantID, retiredDay: Int64?)
    case record(Record)
    /// How many events and facts a tenant has had so far. Its next ones continue from there.
    case tally(TenantID, event: Int64, fact: Int64)
    /// The last item: the number of items before it.
    case end(items: Int64)

    /// The number of the format of exports. It changes when an import of older ones would lose
    /// something.
    package static let format: Int64 = 6
}

/// Reads all items of a log at one moment, in the order that an import needs.
package final class LogExport {
    private let engine: any LogReading

    package init(_ engine: any LogReading) { self.engine = engine }

    /// Calls `take` with each item. Throws at a damaged row, because the import would lose it.
    package func run(_ take: (LogItem) throws -> Void) throws {
        // The closure may throw log errors only, so `take`'s errors are returned as a result.
        let outcome = try engine.atOneMoment { () throws(EventLogError) in
            Result {
                var items: Int64 = 0
                try read { item in
                    items += 1
                    try take(item)
                }
                try take(.end(items: items))
            }
        }
        try outcome.get()
    }

    private func read(_ take: (LogItem) throws -> Void) throws {
        let tenants = try Tenants.read(engine) { _ in }
        var isWhole = true
        let restoredAt = try LogMeta.restoredAt(engine) { _ in isWhole = false }
        guard isWhole else { throw damaged("when the log was restored") }
        let key = try sound(try LogMeta.hashKey(engine), "the key of the log's hashes")
        try take(.identity(hashKey: key, restoredAt: restoredAt))
        let cut = try LogCut(engine) { _ in isWhole = false }
        guard isWhole else { throw damaged("where history was cut") }
        try take(.cut(seq: cut.seq, fact: cut.fact, activity: cut.activity))
        for lead in cut.leads.entries {
            let first = lead.first
            try take(.lead(event: first.event, fact: first.fact, seconds: lead.seconds))
        }
        try readEvents(after: cut.seq, tenants, take)
        try rows(of: .fact) { seq, row in
            let fact = FactRow.fact(seq, row, tenants: tenants)
            try take(.fact(try sound(fact, "fact \(seq)")))
        }
        let tail = try HeadTail(after: cut.heads, tenants: tenants, engine)
        try readHeads(day: nil, tenants, tail, take)
        for day in try RetiredDays.days(engine) {
            try readHeads(day: day, tenants, HeadTail(), take)
        }
        try rows(of: .record) { key, row in
            try take(.record(try sound(RecordRow.record(key, row), RecordRow.title(key))))
        }
        let last = try cut.newest(engine)
        let seqs = try TenantSeqs(tenants, last: last, engine) { _ in isWhole = false }
        guard isWhole else { throw damaged("how many events a tenant has") }
        for number in tenants.all {
            guard let name = tenants.name(number) else { continue }
            let tally = seqs.tally(number)
            try take(.tally(name, event: tally.event.last, fact: tally.fact.last))
        }
    }

    /// Exports events, each followed by its snapshot, if there is one.
    private func readEvents(
        after cut: Int64, _ tenants: Tenants, _ take: (LogItem) throws -> Void
    ) throws {
        var stones: ArraySlice<Int64> = []
        try engine.lengths(.snapshot, min(cut, LogTable.numberMax - 1) + 1...LogTable.numberMax) {
            seq, _ in
            stones.append(seq)
            return true
        }
        try rows(of: .event) { seq, row in
            let event = try sound(EventRow.event(seq, row, tenants: tenants), "event \(seq)")
            try take(.event(event))
            // Skip a snapshot that is damaged or whose event is missing: snapshots only save time.
            while let next = stones.first, next <= seq {
                stones.removeFirst()
                let value = try engine.row(.snapshot, seq) {
                    SnapshotRow.numbers($0, $1) == nil ? nil : SnapshotRow.value($0, $1)
                }
                if next == seq, let value {
                    try take(.snapshot(event.event.activity, value: value, seq: seq))
                }
            }
        }
    }

    private func readHeads(
        day: Int64?, _ tenants: Tenants, _ tail: HeadTail, _ take: (LogItem) throws -> Void
    ) throws {
        try rows(of: .heads(of: day)) { activity, row in
            guard let stored = HeadRow.head(activity, row),
                let tenant = tenants.name(stored.position.tenant)
            else { throw damaged("the head of activity \(activity)") }
            let head: RecoveredHead
            do throws(HeadTail.Gap) { head = try tail.follow(stored.recovered(activity)) } catch {
                throw damaged("activity \(activity): \(error.reason)")
            }
            try take(.head(head, tenant, retiredDay: day))
        }
    }

    /// Visits all rows of a table; an error of `take` ends the visit.
    private func rows(of table: LogTable, _ take: (Int64, RawSpan) throws -> Void) throws {
        var failure: (any Error)?
        do {
            try engine.forEach(table) { key, row throws(EventLogError) in
                do { try take(key, row) } catch {
                    failure = error
                    throw .closed
                }
            }
        } catch {
            throw failure ?? error
        }
    }

    private func sound<Row>(_ row: Row?, _ what: @autoclosure () -> String) throws -> Row {
        guard let row else { throw damaged(what()) }
        return row
    }

    private func damaged(_ what: String) -> EventLogError {
        .unusable(
            cause: "\(what): its row is damaged",
            hint: "see all of it with tombolo log verify; then export a backup instead")
    }
}
