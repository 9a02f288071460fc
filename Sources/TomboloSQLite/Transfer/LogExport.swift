package import TomboloCore
package import TomboloEventLog

/// One thing that a log keeps, on its way out of one log and into another.
package enum LogItem: Sendable {
    /// The first: the key of the log's hashes, its two words, and when it was put back last.
    /// Cursors and delivery ids are made with them.
    case identity(hashKey: [UInt64], restoredAt: Instant?)
    /// The second: up to where history was cut, and the highest activity number ever given.
    case cut(seq: Int64, fact: Int64, activity: Int64)
    /// By how much the wall clock was ahead of the steady one from these rows on: `ClockLeads`.
    case lead(event: Int64, fact: Int64, seconds: Int64)
    case event(RecordedEvent)
    /// The head that an activity had at the event before, its newest then; empty where it was
    /// erased. It is a stone on the way back: see `SnapshotRow`.
    case snapshot(ActivityNumber, value: [UInt8], seq: Int64)
    case fact(RecordedFact)
    /// `retiredDay` counts since 1970; nil where the activity lives.
    case head(RecoveredHead, TenantID, retiredDay: Int64?)
    case record(Record)
    /// A tenant has had so many events and facts: its next ones come after these.
    case tally(TenantID, event: Int64, fact: Int64)
    /// The last: how many there were before it.
    case end(items: Int64)
}

/// Reads all that a log keeps, of one moment and in an order in which it can be taken in again.
package final class LogExport {
    private let path: String
    private let connection: Connection

    /// Opens the database at `path`, which is there, and changes nothing in it.
    package init(path: String) throws(EventLogError) {
        self.path = path
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .reading)
        } catch {
            throw error.unusable(path)
        }
    }

    /// Hands over each item. A damaged row ends it: what is set aside here would be lost there.
    package func run(_ take: (LogItem) throws -> Void) throws {
        do {
            try LogSchema.requireCurrent(connection)
            try connection.execute("BEGIN")
            var items: Int64 = 0
            try read { item in
                items += 1
                try take(item)
            }
            try take(.end(items: items))
            try connection.execute("COMMIT")
        } catch let error as SQLiteError {
            throw error.unusable(path)
        }
    }

    private func read(_ take: (LogItem) throws -> Void) throws {
        let tenants = try Tenants.read(connection) { _ in }
        var isWhole = true
        let restoredAt = try LogMeta.restoredAt(connection) { _ in isWhole = false }
        guard isWhole else { throw damaged("when the log was restored") }
        try take(.identity(hashKey: try LogMeta.hashKey(connection), restoredAt: restoredAt))
        let cut = try LogCut(connection) { _ in isWhole = false }
        guard isWhole else { throw damaged("where history was cut") }
        try take(.cut(seq: cut.seq, fact: cut.fact, activity: cut.activity))
        for lead in cut.leads.entries {
            try take(.lead(event: lead.event, fact: lead.fact, seconds: lead.seconds))
        }
        let events = try connection.prepare(LogTable.event.selection("ORDER BY key"))
        let snapshots = try connection.prepare(
            LogTable.snapshot.selection("WHERE key > \(cut.seq) ORDER BY key"))
        var hasSnapshot = try snapshots.step()
        while try events.step() {
            guard let event = events.read({ EventRow.event($0, $1, tenants: tenants) }) else {
                throw damaged("event \(events.key)")
            }
            try take(.event(event))
            while hasSnapshot, snapshots.key <= events.key {
                // One that is damaged, or of no event, only makes a way longer.
                if snapshots.key == events.key, snapshots.read(SnapshotRow.numbers) != nil {
                    let value = snapshots.read(SnapshotRow.value)
                    try take(.snapshot(event.event.activity, value: value, seq: event.seq))
                }
                hasSnapshot = try snapshots.step()
            }
        }
        let facts = try connection.prepare(LogTable.fact.selection("ORDER BY key"))
        while try facts.step() {
            guard let fact = facts.read({ FactRow.fact($0, $1, tenants: tenants) }) else {
                throw damaged("fact \(facts.key)")
            }
            try take(.fact(fact))
        }
        let tail = try HeadTail(after: cut.heads, tenants: tenants, connection)
        try readHeads(.head, day: nil, tenants, tail, take)
        for day in try RetiredDays.days(connection) {
            try readHeads(.retired(day), day: day, tenants, HeadTail(), take)
        }
        let records = try connection.prepare(LogTable.record.selection("ORDER BY key"))
        while try records.step() {
            guard let record = records.read(RecordRow.record) else {
                throw damaged(RecordRow.title(records.key))
            }
            try take(.record(record))
        }
        let last = TalliedUpTo(
            event: max(cut.seq, try connection.integer("SELECT max(key) FROM event")),
            fact: max(cut.fact, try connection.integer("SELECT max(key) FROM fact")))
        let seqs = try TenantSeqs.recover(tenants, last: last, connection) { _ in isWhole = false }
        guard isWhole else { throw damaged("how many events a tenant has") }
        for number in tenants.all {
            guard let name = tenants.name(number) else { continue }
            let tally = seqs.tally(number)
            try take(.tally(name, event: tally.event.last, fact: tally.fact.last))
        }
    }

    private func readHeads(
        _ table: LogTable, day: Int64?, _ tenants: Tenants, _ tail: HeadTail,
        _ take: (LogItem) throws -> Void
    ) throws {
        let rows = try connection.prepare(table.selection("ORDER BY key"))
        while try rows.step() {
            let activity = rows.key
            guard let stored = rows.read(HeadRow.head),
                let tenant = tenants.name(stored.mark.tenant)
            else {
                throw damaged("the head of activity \(activity)")
            }
            let head: RecoveredHead
            do throws(HeadTail.Gap) { head = try tail.follow(stored.recovered(activity)) } catch {
                throw damaged("activity \(activity): \(error.reason)")
            }
            try take(.head(head, tenant, retiredDay: day))
        }
    }

    private func damaged(_ what: String) -> EventLogError {
        .unusable(
            cause: "\(path): \(what): its row is damaged",
            hint: "see all of it with tombolo log verify; then export a backup instead")
    }
}
