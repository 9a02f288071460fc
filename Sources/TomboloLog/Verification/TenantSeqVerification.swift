import TomboloCore
import TomboloEventLog

/// Whether the places of each tenant's events and facts go on by one, and what leads to them says
/// where they are.
struct TenantSeqVerification {
    /// A tenant's newest row so far, and its newest among those that the table `tally` tells of.
    private struct Newest {
        var last: Int64?
        var tallied: Int64?
    }

    private var events: [TenantID: Newest] = [:]
    private var facts: [TenantID: Newest] = [:]
    private var content = TallyRow.Content()
    /// Those whose rows were not met.
    private var waypoints: Set<Waypoint> = []
    private var numbers: [TenantID: Int64] = [:]
    private var damaged = 0

    /// Of a log without rows.
    init() {}

    init(_ engine: any LogReading) throws(EventLogError) {
        content = try TallyRow.read(engine)
        numbers = try Tenants.read(engine) { _ in }.byName
        for shard in try engine.shards(of: .waypoint) {
            try engine.scan(.waypoint(shard)) {
                if let waypoint = Waypoint(shard: shard, $0, $1) {
                    waypoints.insert(waypoint)
                } else {
                    damaged += 1
                }
                return true
            }
        }
    }

    /// Answers what is wrong with the place of the next event.
    mutating func follow(_ event: RecordedEvent) -> String? {
        let tenant = event.event.tenant
        meet(.event, tenant, event.tenantSeq, event.seq)
        return Self.follow(
            event.tenantSeq, at: event.seq, &events[tenant, default: Newest()],
            tallied: content.tallied.event
        ).map { "event \(event.seq): \($0) of \(tenant.name)" }
    }

    /// The same of the next fact.
    mutating func follow(_ fact: RecordedFact) -> String? {
        let tenant = fact.fact.tenant
        meet(.fact, tenant, fact.tenantSeq, fact.seq)
        return Self.follow(
            fact.tenantSeq, at: fact.seq, &facts[tenant, default: Newest()],
            tallied: content.tallied.fact
        ).map { "fact \(fact.seq): \($0) of \(tenant.name)" }
    }

    private mutating func meet(
        _ kind: TenantSeqs.Kind, _ tenant: TenantID, _ tenantSeq: Int64, _ seq: Int64
    ) {
        guard !waypoints.isEmpty, let number = numbers[tenant] else { return }
        waypoints.remove(Waypoint(kind: kind, tenant: number, tenantSeq: tenantSeq, seq: seq))
    }

    /// A row that comes after damage has the log's place.
    private static func follow(
        _ place: Int64, at seq: Int64, _ newest: inout Newest, tallied: Int64
    ) -> String? {
        let last = newest.last
        newest.last = place
        if seq <= tallied { newest.tallied = place }
        guard let last, place != last + 1 else { return nil }
        if place > last, place == seq { return nil }
        return "place \(place) after \(last)"
    }

    /// What is wrong with tallies and waypoints, after all rows were followed.
    func finish(_ tenants: Tenants, _ cut: LogCut) -> [String] {
        var wrong: [String] = []
        if !content.isWhole {
            wrong.append("how many events each tenant has: a row is damaged")
        }
        if damaged > 0 { wrong.append("waypoints: \(damaged) rows are damaged") }
        for (tenant, number) in numbers.sorted(by: { $0.value < $1.value }) {
            let tally = content.tallies[number] ?? (0, 0)
            // An upgrade lets tenants go on beyond their newest.
            if events[tenant]?.tallied ?? 0 > tally.event {
                wrong.append("\(tenant.name) has more events than the \(tally.event) it is to have")
            }
            if facts[tenant]?.tallied ?? 0 > tally.fact {
                wrong.append("\(tenant.name) has more facts than the \(tally.fact) it is to have")
            }
        }
        for waypoint in waypoints.sorted(by: { $0.seq < $1.seq })
        where waypoint.seq > (waypoint.kind == .event ? cut.seq : cut.fact) {
            let name = tenants.name(waypoint.tenant)?.name.rawValue ?? "tenant \(waypoint.tenant)"
            wrong.append("the waypoint of \(name) at \(waypoint.tenantSeq) leads to no row of it")
        }
        return wrong
    }
}
