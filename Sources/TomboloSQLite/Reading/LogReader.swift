package import TomboloCore
package import TomboloEventLog

/// The connection that answers questions. Each answer is of one moment, and never holds the writer
/// up.
///
/// Synchronous, for one thread at a time: whoever opens it hands it to the reader's thread and
/// forgets it. That is why it may claim to be sendable.
package final class LogReader: @unchecked Sendable {
    private let path: String
    let connection: Connection
    let eventAt: Statement
    let eventsBetween: Statement
    let blocksFrom: Statement
    let snapshotAt: Statement
    private let history: Statement
    let factsUp: Statement
    let factsDown: Statement
    let factAt: Statement
    let factFrom: Statement
    let factUpTo: Statement
    let factBlocks: Statement
    let factBucket: Statement
    let waypointsBefore: Statement
    let waypointAfter: Statement
    let head: Statement
    let lastSeq: Statement
    let lastFactSeq: Statement
    private let lastTenant: Statement
    private let cutAt: Statement
    private let begin: Statement
    private let commit: Statement
    let damage: DamageList
    private(set) var tenants = Tenants()
    private var tenantsRead: Int64 = 0
    private var retiredReader = RetiredReader()
    private let hash: KeyedHash

    /// Opens the database at `path`, which a writer holds open; rows found damaged go to `damage`.
    package init(path: String, vfs: String? = nil, damage: DamageList) throws(EventLogError) {
        self.path = path
        self.damage = damage
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .reading, vfs: vfs)
            begin = try connection.prepare("BEGIN")
            commit = try connection.prepare("COMMIT")
            hash = try LogMeta.hash(connection)
            eventAt = try connection.prepare(LogTable.event.one)
            eventsBetween = try connection.prepare(
                LogTable.event.selection("WHERE key > ?1 AND key <= ?2 ORDER BY key"))
            blocksFrom = try connection.prepare(
                LogTable.block.selection("WHERE key >= ?1 ORDER BY key"))
            snapshotAt = try connection.prepare(LogTable.snapshot.one)
            history = try connection.prepare(
                LogTable.event.selection("WHERE key > ?1 ORDER BY key LIMIT ?2"))
            let facts = LogTable.fact.selection("WHERE key >= ?1 AND key <= ?2 ORDER BY key")
            factsUp = try connection.prepare(facts)
            factsDown = try connection.prepare("\(facts) DESC")
            factAt = try connection.prepare(LogTable.fact.one)
            factFrom = try connection.prepare("SELECT min(key) FROM fact WHERE key >= ?1")
            factUpTo = try connection.prepare("SELECT max(key) FROM fact WHERE key <= ?1")
            factBlocks = try connection.prepare(LogTable.factBlock.one)
            factBucket = try connection.prepare(LogTable.factBucket.one)
            waypointsBefore = try connection.prepare(Waypoint.selectionBefore)
            waypointAfter = try connection.prepare(Waypoint.selectionAfter)
            head = try connection.prepare(LogTable.head.one)
            lastSeq = try connection.prepare("SELECT max(key) FROM event")
            lastFactSeq = try connection.prepare("SELECT max(key) FROM fact")
            lastTenant = try connection.prepare("SELECT max(key) FROM tenant")
            cutAt = try connection.prepare(LogTable.cut.one)
        } catch {
            throw error.unusable(path)
        }
    }

    // MARK: Questions

    package func event(
        seq: Int64, tenant: TenantID
    ) throws(EventLogError) -> RecordedEvent? {
        try answer { () throws(SQLiteError) in
            let found = try event(at: seq)
            return found?.event.tenant == tenant ? found : nil
        }
    }

    package func event(
        tenantSeq: Int64, tenant: TenantID
    ) throws(EventLogError) -> RecordedEvent? {
        guard tenantSeq > 0 else { return nil }
        var query = EventQuery(tenant: tenant)
        (query.after, query.through, query.limit) = (tenantSeq - 1, tenantSeq, 1)
        let found = try events(query).events.first
        return found?.tenantSeq == tenantSeq ? found : nil
    }

    /// The newest event's; 0 where there is none.
    package func lastSequence() throws(EventLogError) -> Int64 {
        try answer { () throws(SQLiteError) in try integer(lastSeq) }
    }

    package func retired(named keys: [ActivityKey]) throws(EventLogError) -> [RecoveredHead] {
        try answer { () throws(SQLiteError) in
            var found: [RecoveredHead] = []
            for key in keys {
                guard let tenant = tenants.known(key.tenant) else { continue }
                let hash = hash(tenant, key.id.rawValue)
                if let head = try retiredReader.find(key, hash: hash, connection) {
                    found.append(head)
                }
            }
            return found
        }
    }

    package func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) throws(EventLogError) -> RecoveredHead? {
        try answer { () throws(SQLiteError) in
            guard let tenant = tenants.known(tenant) else { return nil }
            return try retiredReader.find(activity, tenant: tenant, connection)
        }
    }

    package func history(
        after seq: Int64, limit: Int
    ) throws(EventLogError) -> [RecordedEvent] {
        try answer { () throws(SQLiteError) in
            history.bind(seq, at: 1)
            history.bind(Int64(limit), at: 2)
            defer { history.reset() }
            var events: [RecordedEvent] = []
            while try history.step() {
                if let event = history.read(decode) { events.append(event) }
            }
            return events
        }
    }

    package func events(_ query: EventQuery) throws(EventLogError) -> EventPage {
        try answer { () throws(SQLiteError) in
            guard let tenant = tenants.known(query.tenant) else {
                return EventPage(events: [], next: nil)
            }
            if query.activity != nil, let page = try way(query, tenant: tenant) { return page }
            return try scan(query, tenant: tenant)
        }
    }

    package func facts(_ query: FactQuery) throws(EventLogError) -> FactPage {
        try answer { () throws(SQLiteError) in
            guard let tenant = tenants.known(query.tenant) else {
                return FactPage(facts: [], next: nil)
            }
            return try scan(query, tenant: tenant)
        }
    }

    package func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) throws(EventLogError) -> RecoveredHead? {
        try answer { () throws(SQLiteError) in
            guard let tenant = tenants.known(tenant) else { return nil }
            return try snapshot(
                of: activity.rawValue, tenant: tenant, at: moment, newest: newest)
        }
    }

    // MARK: Ways to the rows

    func event(at seq: Int64) throws(SQLiteError) -> RecordedEvent? {
        try eventAt.find(seq, decode)
    }

    /// nil where the row is missing or damaged.
    func numbers(at seq: Int64) throws(SQLiteError) -> EventRow.Numbers? {
        try eventAt.find(seq, EventRow.numbers)
    }

    func decode(_ seq: Int64, _ row: RawSpan) -> RecordedEvent? {
        let event = EventRow.event(seq, row, tenants: tenants)
        if event == nil { damage.add(EventRow.damageLine(seq, row, tenants: tenants)) }
        return event
    }

    /// A number of the table `cut`; 0 where it has none, or none that can be read.
    func cut(_ key: LogCut.Key) throws(SQLiteError) -> Int64 {
        try cutAt.find(key.rawValue, LogCut.value) ?? 0
    }

    func integer(_ statement: borrowing Statement) throws(SQLiteError) -> Int64 {
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    // MARK: Around each answer

    /// Each is of one moment: a day's table may go while it is asked for.
    private func answer<Answer>(
        _ body: () throws(SQLiteError) -> Answer
    ) throws(EventLogError) -> Answer {
        do throws(SQLiteError) {
            try begin.execute()
            do throws(SQLiteError) {
                try readTenants()
                let answer = try body()
                try commit.execute()
                return answer
            } catch {
                if !connection.isIdle { try commit.execute() }
                throw error
            }
        } catch {
            throw error.unusable(path)
        }
    }

    /// Tenants that came since the last question.
    private func readTenants() throws(SQLiteError) {
        let last = try integer(lastTenant)
        guard last > tenantsRead else { return }
        tenants = try Tenants.read(connection) { damage.add($0) }
        tenantsRead = last
    }
}
