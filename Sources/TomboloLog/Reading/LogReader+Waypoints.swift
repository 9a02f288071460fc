import TomboloCore
import TomboloEventLog

// Finds sequences in the log for a tenant's places. A place is a row's number among the tenant's
// own rows.

extension LogReader {
    /// A sequence of the log. All rows of the tenant with places above `tenantSeq` come after it,
    /// with at most `Waypoint.spacing` rows of others before them.
    func place(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, after tenantSeq: Int64
    ) throws(EventLogError) -> Int64 {
        let next = max(0, min(tenantSeq, LogTable.numberMax)) + 1
        if next == 1 || standing.isSole { return next - 1 }
        let before = try Waypoint.newest(kind, tenant, upTo: next, engine)
        guard let before else { return next - 1 }
        return before.seq + next - before.tenantSeq - 1
    }

    /// Result of a search for the tenant's next row.
    enum Leap {
        /// The tenant's next row comes after this sequence.
        case to(Int64)
        /// The tenant has no next row.
        case nothing
        /// The waypoints do not say where.
        case none
    }

    /// Finds where the tenant's rows after place `tenantSeq` continue. Call it after more than
    /// `Waypoint.spacing` rows of others: then the tenant's next row has a waypoint.
    func leap(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, after tenantSeq: Int64, from position: Int64
    ) throws(EventLogError) -> Leap {
        // Among cut rows there may have been one of the tenant.
        let cut = kind == .event ? standing.cut : standing.factCut
        guard position - Waypoint.spacing >= cut else { return .none }
        let shard = Waypoint.shard(kind, tenant)
        var (found, waypoint): (Bool, Waypoint?) = (false, nil)
        try engine.scan(.waypoint(shard), after: tenantSeq, upTo: .max) {
            (found, waypoint) = (true, Waypoint(shard: shard, $0, $1))
            return false
        }
        guard found else { return .nothing }
        // The waypoint belongs to a later row, so a row with a damaged waypoint may come before it.
        guard let waypoint, waypoint.tenantSeq == tenantSeq + 1 else { return .none }
        return .to(max(position, waypoint.seq - 1))
    }
}
