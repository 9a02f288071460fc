package import TomboloCore
package import TomboloEventLog

/// Answers questions. Each answer is of one moment, and never holds the writer up.
///
/// Synchronous, for one thread at a time: who opens it hands it to the reader's thread and
/// forgets it. That is why it may claim to be sendable.
package final class LogReader: @unchecked Sendable {
    let engine: any LogReading
    let damage: DamageList
    private(set) var tenants = Tenants()
    /// As of the question that is being answered.
    private(set) var standing = CommittedLog()
    private var tenantsRead: Int64 = 0
    private let hash: KeyedHash
    private let window: LogWindow?

    /// Rows found damaged go to `damage`.
    ///
    /// - Parameter window: the writer's, which knows how far the log has come; nil where the reader
    ///   asks the engine for that.
    package init(
        _ engine: any LogReading, window: LogWindow? = nil, damage: DamageList
    ) throws(EventLogError) {
        self.engine = engine
        self.window = window
        self.damage = damage
        hash = try LogMeta.hash(engine)
    }

    // MARK: Questions

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

    /// The newest event's; 0 where there is none.
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

    // MARK: Ways to the rows

    func event(at seq: Int64) throws(EventLogError) -> RecordedEvent? {
        try engine.row(.event, seq, decode)
    }

    /// nil where the row is missing or damaged.
    func numbers(at seq: Int64) throws(EventLogError) -> EventRow.Numbers? {
        try engine.row(.event, seq, EventRow.numbers)
    }

    func decode(_ seq: Int64, _ row: RawSpan) -> RecordedEvent? {
        let event = EventRow.event(seq, row, tenants: tenants)
        if event == nil { damage.add(EventRow.damageLine(seq, row, tenants: tenants)) }
        return event
    }

    // MARK: Around each answer

    /// Each is of one moment: a day's table may go while it is asked for. The writer's memory says
    /// how far the log had come before that moment. Where history was cut since then, the question
    /// is asked once more, and then the engine says all of it.
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

    /// Tenants that came since the last question.
    private func readTenants() throws(EventLogError) {
        guard standing.tenants > tenantsRead else { return }
        tenants = try Tenants.read(engine) { damage.add($0) }
        tenantsRead = standing.tenants
    }
}
