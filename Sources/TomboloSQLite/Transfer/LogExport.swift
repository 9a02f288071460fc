package import TomboloCore
package import TomboloEventLog

/// One thing that a log keeps, on its way out of one log and into another.
package enum LogItem: Sendable {
    /// The first: up to where history was cut, and the highest activity number ever given.
    case cut(seq: Int64, fact: Int64, activity: Int64)
    case event(RecordedEvent)
    case fact(RecordedFact)
    /// `retiredDay` counts since 1970; nil where the activity lives.
    case head(RecoveredHead, TenantID, retiredDay: Int64?)
    case record(Record)
    /// A tenant has had so many events and facts: its next ones come after these.
    case tally(TenantID, event: Int64, fact: Int64)
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
            try read(take)
            try connection.execute("COMMIT")
        } catch let error as SQLiteError {
            throw error.unusable(path)
        }
    }

    private func read(_ take: (LogItem) throws -> Void) throws {
        let tenants = try Tenants.read(connection) { _ in }
        var isWhole = true
        let cut = try LogCut(connection) { _ in isWhole = false }
        guard isWhole else { throw damaged("where history was cut") }
        try take(.cut(seq: cut.seq, fact: cut.fact, activity: cut.activity))
        let events = try connection.prepare("SELECT \(EventRow.columns) FROM event ORDER BY seq")
        while try events.step() {
            guard let event = EventRow.event(events, tenants: tenants) else {
                throw damaged("event \(events.integer(0))")
            }
            try take(.event(event))
        }
        let facts = try connection.prepare("SELECT \(FactRow.columns) FROM fact ORDER BY seq")
        while try facts.step() {
            guard let fact = FactRow.fact(facts, tenants: tenants) else {
                throw damaged("fact \(facts.integer(0))")
            }
            try take(.fact(fact))
        }
        let tail = try HeadTail(after: cut.heads, tenants: tenants, connection)
        try readHeads("head", day: nil, tenants, tail, take)
        for day in try RetiredDays.days(connection) {
            try readHeads("\(RetiredDays.prefix)\(day)", day: day, tenants, HeadTail(), take)
        }
        let records = try connection.prepare("SELECT \(RecordRow.columns) FROM record ORDER BY key")
        while try records.step() {
            guard let record = RecordRow.record(records) else {
                throw damaged("record \(records.integer(0))")
            }
            try take(.record(record))
        }
        let last = TalliedUpTo(
            event: max(cut.seq, try connection.integer("SELECT max(seq) FROM event")),
            fact: max(cut.fact, try connection.integer("SELECT max(seq) FROM fact")))
        let seqs = try TenantSeqs.recover(tenants, last: last, connection) { _ in isWhole = false }
        guard isWhole else { throw damaged("how many events a tenant has") }
        for number in tenants.all {
            guard let name = tenants.name(number) else { continue }
            let tally = seqs.tally(number)
            try take(.tally(name, event: tally.event.last, fact: tally.fact.last))
        }
    }

    private func readHeads(
        _ table: String, day: Int64?, _ tenants: Tenants, _ tail: HeadTail,
        _ take: (LogItem) throws -> Void
    ) throws {
        let rows = try connection.prepare(
            "SELECT \(HeadRow.columns) FROM \(table) ORDER BY activity")
        while try rows.step() {
            let activity = rows.integer(0)
            guard let mark = HeadRow.mark(rows), let tenant = tenants.name(mark.tenant) else {
                throw damaged("the head of activity \(activity)")
            }
            let stored = RecoveredHead(
                activity: ActivityNumber(activity), version: mark.version, seq: mark.seq,
                tenantSeq: mark.tenantSeq, value: Array(rows.bytes(5)))
            let head: RecoveredHead
            do throws(HeadTail.Gap) { head = try tail.follow(stored) } catch {
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
