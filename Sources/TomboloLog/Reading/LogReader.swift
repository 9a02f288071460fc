package import TomboloCore
package import TomboloEventLog

/// Answers queries. Each answer shows one moment of the log and never blocks the writer.
///
/// Synchronous, for one thread at a time. It is sendable because its creator passes it to the
/// reader's thread and keeps no reference.
package final class LogReader: @unchecked Sendable {
    let engine: any LogReading
    let damage: DamageList
    private(set) var tenants = Tenants()
    /// State of the log for the query that is being answered.
    private(set) var standing = CommittedLog()
    private var tenantsRead: Int64 = 0
    private let hash: KeyedHash
    private let window: LogWindow?

    /// Damaged rows are added to `damage`.
    ///
    /// - Parameter window: the writer's window, which knows the log's end; nil means that the
    ///   reader asks the engine.
    package init(
        _ engine: any LogReading, window: LogWindow? = nil, damage: DamageList
    ) throws(EventLogError) {
        self.engine = engine
        self.window = window
        self.damage = damage
        hash = try LogMeta.hash(engine)
    }

    // MARK: Queries

    package func event(
        seq: Int64, tenant: TenantID
    ) throws(EventLogError) -> RecordedEvent? {
        try answer { () throws(EventLogError) in
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

    /// Sequence of the newest event; 0 if there is none.
    package func lastSequence() throws(EventLogError) -> Int64 {
        try answer { () throws(EventLogError) in standing.event }
    }

    package func retired(named keys: [ActivityKey]) throws(EventLogError) -> [RecoveredHead] {
        try answer { () throws(EventLogError) in
            let known = keys.compactMap { key in
                tenants.known(key.tenant).map { (key, hash($0, key.id.rawValue)) }
            }
            return try known.isEmpty ? [] : RetiredReader.find(known, engine)
        }
    }

    package func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) throws(EventLogError) -> RecoveredHead? {
        try answer { () throws(EventLogError) in
            guard let tenant = tenants.known(tenant) else { return nil }
            return try RetiredReader.find(activity, tenant: tenant, engine)
        }
    }

    package func history(
        after seq: Int64, limit: Int
    ) throws(EventLogError) -> [RecordedEvent] {
        try answer { () throws(EventLogError) in
            var events: [RecordedEvent] = []
            var rows = 0
            guard limit > 0 else { return [] }
            try engine.scan(.event, after: seq, upTo: .max) { seq, row in
                rows += 1
                if let event = decode(seq, row) { events.append(event) }
                return rows < limit
            }
            return events
        }
    }

    package func events(_ query: EventQuery) throws(EventLogError) -> EventPage {
        try answer { () throws(EventLogError) in
            guard let tenant = tenants.known(query.tenant) else {
                return EventPage(events: [], next: nil)
            }
            if query.activity != nil, let page = try way(query, tenant: tenant) { return page }
            return try scan(query, tenant: tenant)
        }
    }

    package func facts(_ query: FactQuery) throws(EventLogError) -> FactPage {
        try answer { () throws(EventLogError) in
            guard let tenant = tenants.known(query.tenant) else {
                return FactPage(facts: [], next: nil)
            }
            return try scan(query, tenant: tenant)
        }
    }

    package func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) throws(EventLogError) -> RecoveredHead? {
        try answer { () throws(EventLogError) in
            guard let tenant = tenants.known(tenant) else { return nil }
            return try snapshot(
                of: activity.rawValue, tenant: tenant, at: moment, newest: newest)
        }
    }

    // MARK: Rows

    func event(at seq: Int64) throws(EventLogError) -> RecordedEvent? {
        try engine.row(.event, seq, decode)
    }

    /// Returns nil if the row is missing or damaged.
    func numbers(at seq: Int64) throws(EventLogError) -> EventRow.Numbers? {
        try engine.row(.event, seq, EventRow.numbers)
    }

    func decode(_ seq: Int64, _ row: RawSpan) -> RecordedEvent? {
        let event = EventRow.event(seq, row, tenants: tenants)
        if event == nil { damage.add(EventRow.damageLine(seq, row, tenants: tenants)) }
        return event
    }

    // MARK: Around each answer

    /// Answers a query at one moment of the log, so that a day's table that is deleted meanwhile
    /// does no harm. The log's end comes from the writer's memory. If history is cut meanwhile, the
    /// query is repeated once; after that, all values come from the engine.
    private func answer<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer {
        for _ in 0..<2 {
            guard let known = window?.committed else { break }
            let answer = try engine.atOneMoment { () throws(EventLogError) in
                standing = known
                try readTenants()
                return try body()
            }
            if window?.committed?.cuts == known.cuts { return answer }
        }
        return try engine.atOneMoment { () throws(EventLogError) in
            standing = try CommittedLog(engine)
            try readTenants()
            return try body()
        }
    }

    /// Reads the tenants that were added since the last query.
    private func readTenants() throws(EventLogError) {
        guard standing.tenants > tenantsRead else { return }
        tenants = try Tenants.read(engine) { damage.add($0) }
        tenantsRead = standing.tenants
    }
}
