import TomboloCore
import TomboloEventLog

// Converts a place among a tenant's rows to a sequence in the log.

extension LogReader {
    /// A sequence in the log after which all rows of the tenant with places above `tenantSeq` are.
    /// At most `Waypoint.spacing` rows of others come before those.
    func place(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, after tenantSeq: Int64
    ) throws(EventLogError) -> Int64 {
        let next = max(0, min(tenantSeq, LogTable.numberMax)) + 1
        if next == 1 || standing.isSole { return next - 1 }
        let before = try Waypoint.newest(kind, tenant, upTo: next, engine)
        guard let before else { return next - 1 }
        return before.seq + next - before.tenantSeq - 1
    }

    /// How to skip many rows of other tenants.
    enum Leap {
        /// The tenant's next row comes after this sequence.
        case to(Int64)
        /// The tenant has no next row.
        case nothing
        /// Unknown.
        case none
    }

    /// Where the tenant's rows after its place `tenantSeq` continue. Call it after as many rows of
    /// others as lie between two waypoints: then the next row has one.
    func leap(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, after tenantSeq: Int64, from position: Int64
    ) throws(EventLogError) -> Leap {
        // Cut rows may have belonged to the tenant.
        let cut = kind == .event ? standing.cut : standing.factCut
        guard position - Waypoint.spacing >= cut else { return .none }
        let shard = Waypoint.shard(kind, tenant)
        var (found, waypoint): (Bool, Waypoint?) = (false, nil)
        try engine.scan(.waypoint(shard), after: tenantSeq, upTo: .max) {
            (found, waypoint) = (true, Waypoint(shard: shard, $0, $1))
            return false
        }
        guard found else { return .nothing }
        // If the waypoint is of a later row, a damaged row may come before it.
        guard let waypoint, waypoint.tenantSeq == tenantSeq + 1 else { return .none }
        return .to(max(position, waypoint.seq - 1))
    }
}
