import TomboloCore
import TomboloEventLog

/// The sequence of one of a tenant's events or facts, by its place: a row of the table `waypoint`.
///
/// A tenant gets a waypoint when other tenants have written `spacing` rows since its last one. To
/// find the sequence for a place, start at the last waypoint before it, add the difference of the
/// places, and search at most `spacing` rows. The only tenant of a log needs none.
struct Waypoint: Hashable {
    var kind: TenantSeqs.Kind
    var tenant: Int64
    var tenantSeq: Int64
    var seq: Int64

    /// Number of rows of others between two waypoints; to read them takes about a millisecond.
    static let spacing: Int64 = 4_096

    /// True if a row gets a waypoint. `gap` is its sequence minus its place. The gap shrinks only
    /// if the tenant's count jumped after damage.
    @inline(__always)
    static func isDue(gap: Int64, before: Int64) -> Bool {
        gap - before >= spacing || gap < before
    }

    static func shard(_ kind: TenantSeqs.Kind, _ tenant: Int64) -> Int64 {
        tenant << 1 | kind.rawValue
    }

    private var shard: Int64 { Self.shard(kind, tenant) }

    func store(into buffer: inout RowBuffer, _ engine: any LogWriting) throws(EventLogError) {
        let row = buffer.row(.waypoint, tenantSeq, (shard, seq) as Numbers)
        try engine.put(.waypoint(shard), tenantSeq, row)
    }

    private typealias Numbers = (shard: Int64, seq: Int64)

    init(kind: TenantSeqs.Kind, tenant: Int64, tenantSeq: Int64, seq: Int64) {
        (self.kind, self.tenant, self.tenantSeq, self.seq) = (kind, tenant, tenantSeq, seq)
    }

    /// Returns nil if the row is damaged.
    init?(shard: Int64, _ tenantSeq: Int64, _ row: RawSpan) {
        guard let found = RowChecksum.numbers(.waypoint, tenantSeq, row, as: Numbers.self),
            found.shard == shard, let kind = TenantSeqs.Kind(rawValue: shard & 1),
            tenantSeq > 0, tenantSeq <= found.seq
        else { return nil }
        self.init(kind: kind, tenant: shard >> 1, tenantSeq: tenantSeq, seq: found.seq)
    }

    /// The newest waypoint of `tenant` at or before a place; nil if there is none.
    static func newest(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, upTo tenantSeq: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> Waypoint? {
        let shard = shard(kind, tenant)
        var found: Waypoint?
        guard tenantSeq > 0 else { return nil }
        try engine.scan(.waypoint(shard), 1...tenantSeq, .falling) {
            found = Waypoint(shard: shard, $0, $1)
            // If a waypoint is damaged, use an earlier one; the search then takes longer.
            return found == nil
        }
        return found
    }

    // MARK: Cutting history

    /// Maximum number of tenants that one call of `forget` examines, and of rows for each.
    private static let tenantsAtOnce: Int64 = 16
    private static let rowsAtOnce = 64

    /// Deletes waypoints whose next waypoint is also before the cut. Examines some tenants after
    /// `tenant`. Returns the tenant after which the next call continues.
    static func forget(
        before cut: LogCut, from tenant: Int64, of highest: Int64, _ seqs: TenantSeqs,
        _ engine: any LogWriting
    ) throws(EventLogError) -> Int64 {
        guard highest > 0 else { return 0 }
        let first = tenant < highest ? tenant + 1 : 1
        let last = min(highest, first + tenantsAtOnce - 1)
        for tenant in first...last {
            // If the gap is 0, the tenant has no waypoints.
            for kind in TenantSeqs.Kind.allCases where seqs.tally(tenant)[kind].gap != 0 {
                let shard = shard(kind, tenant)
                var kept: Int64?
                var rows = 0
                try engine.scan(.waypoint(shard)) { tenantSeq, row in
                    let waypoint = Waypoint(shard: shard, tenantSeq, row)
                    if let waypoint, waypoint.seq <= cut[kind] { kept = tenantSeq }
                    rows += 1
                    return rows < rowsAtOnce && waypoint.map { $0.seq <= cut[kind] } ?? true
                }
                guard let kept, kept > 1 else { continue }
                try engine.delete(.waypoint(shard), 0...kept - 1, isPersonal: true)
            }
        }
        return last
    }
}
