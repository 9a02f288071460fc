import TomboloCore
import TomboloEventLog

// From the place among a tenant's own rows to that in the log.

extension LogReader {
    /// A place of the log behind which all rows of the tenant are that come after its own place
    /// `tenantSeq`, and at most `Waypoint.spacing` rows of others before those.
    func place(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, after tenantSeq: Int64
    ) throws(EventLogError) -> Int64 {
        let next = max(0, min(tenantSeq, LogTable.numberMax)) + 1
        if next == 1 || standing.isSole { return next - 1 }
        let before = try Waypoint.newest(kind, tenant, upTo: next, engine)
        guard let before else { return next - 1 }
        return before.seq + next - before.tenantSeq - 1
    }

    /// Over many rows of others.
    enum Leap {
        /// The next row of the tenant comes after this one.
        case to(Int64)
        /// It has no next row.
        case nothing
        /// Nobody knows.
        case none
    }

    /// Where the tenant's rows after its own place `tenantSeq` go on, when as many rows of others
    /// as lie between two waypoints were met since: the next row has one then.
    func leap(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, after tenantSeq: Int64, from position: Int64
    ) throws(EventLogError) -> Leap {
        // What was cut may have had rows of the tenant.
        let cut = kind == .event ? standing.cut : standing.factCut
        guard position - Waypoint.spacing >= cut else { return .none }
        let shard = Waypoint.shard(kind, tenant)
        var (found, waypoint): (Bool, Waypoint?) = (false, nil)
        try engine.scan(.waypoint(shard), after: tenantSeq, upTo: .max) {
            (found, waypoint) = (true, Waypoint(shard: shard, $0, $1))
            return false
        }
        guard found else { return .nothing }
        // Of another row, a damaged one may be before it.
        guard let waypoint, waypoint.tenantSeq == tenantSeq + 1 else { return .none }
        return .to(max(position, waypoint.seq - 1))
    }
}
