import TomboloCore
import TomboloEventLog

/// Checks that the places of each tenant's events and facts have no gaps, and that waypoints and
/// tallies are right.
struct TenantSeqVerification {
    /// A tenant's newest place so far, and the newest one that `tally` should count.
    private struct Newest {
        var last: Int64?
        var tallied: Int64?
    }

    private var newest: [TenantID: ByKind<Newest>] = [:]
    private var table = TallyRow.Table()
    /// Waypoints whose event or fact has not been read yet.
    private var waypoints: Set<Waypoint> = []
    private var numbers: [TenantID: Int64] = [:]
    private var damaged = 0

    /// For an empty log.
    init() {}

    init(_ engine: any LogReading) throws(EventLogError) {
        table = try TallyRow.Table(engine)
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

    /// Checks the next event or fact. Returns the error in its place; nil if there is none.
    mutating func follow(
        _ kind: TenantSeqs.Kind, _ tenant: TenantID, _ tenantSeq: Int64, at seq: Int64
    ) -> String? {
        if !waypoints.isEmpty, let number = numbers[tenant] {
            waypoints.remove(
                Waypoint(kind: kind, tenant: number, tenantSeq: tenantSeq, seq: seq))
        }
        var rows = newest[tenant] ?? ByKind(event: Newest(), fact: Newest())
        let last = rows[kind].last
        rows[kind].last = tenantSeq
        if seq <= table.tallied[kind] { rows[kind].tallied = tenantSeq }
        newest[tenant] = rows
        guard let last, tenantSeq != last + 1 else { return nil }
        // After damage, a tenant continues at a place that equals the sequence.
        if tenantSeq > last, tenantSeq == seq { return nil }
        return "\(kind) \(seq): place \(tenantSeq) after \(last) of \(tenant.name)"
    }

    /// Call it after all rows. Calls `wrong` for each error in the tables `tally` and `waypoint`.
    func finish(_ tenants: Tenants, _ cut: LogCut, _ wrong: (String) -> Void) {
        if !table.isWhole { wrong("how many events each tenant has: a row is damaged") }
        if damaged > 0 { wrong("waypoints: \(damaged) rows are damaged") }
        for (tenant, number) in numbers.sorted(by: { $0.value < $1.value }) {
            for kind in TenantSeqs.Kind.allCases {
                let tally = table.tallies[number]?[kind] ?? 0
                // After an upgrade, the counted number may be above the tenant's newest place.
                if newest[tenant]?[kind].tallied ?? 0 > tally {
                    wrong("\(tenant.name) has more \(kind)s than the \(tally) it should have")
                }
            }
        }
        for waypoint in waypoints.sorted(by: { $0.seq < $1.seq })
        where waypoint.seq > cut[waypoint.kind] {
            let name = tenants.name(waypoint.tenant)?.name.rawValue ?? "tenant \(waypoint.tenant)"
            wrong("the waypoint of \(name) at \(waypoint.tenantSeq) leads to no row of it")
        }
    }
}
