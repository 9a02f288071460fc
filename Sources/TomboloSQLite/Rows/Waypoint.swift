import TomboloCore

/// Where one of a tenant's events or facts is in the log: a row of the table `waypoint`.
///
/// A tenant gets one when others have written `spacing` rows since its last: the way from its own
/// place to the log's is then that last waypoint before it, as many rows further as the places
/// differ, and at most `spacing` rows more. The only tenant of a log never gets any.
struct Waypoint: Hashable {
    var kind: TenantSeqs.Kind
    var tenant: Int64
    var tenantSeq: Int64
    var seq: Int64

    /// About a millisecond to read.
    static let spacing: Int64 = 4_096

    /// Whether a row gets one whose sequence is `gap` beyond its place among the tenant's own. It
    /// shrinks only where damage made a tenant's count leap.
    @inline(__always)
    static func isDue(gap: Int64, before: Int64) -> Bool {
        gap - before >= spacing || gap < before
    }

    /// `shard` says tenant and kind; the key is the place among the tenant's own.
    static let schema = """
        CREATE TABLE waypoint(
            shard INTEGER NOT NULL, key INTEGER NOT NULL, row BLOB NOT NULL,
            PRIMARY KEY(shard, key)) WITHOUT ROWID;
        """
    static let selection = "SELECT key, row, shard FROM waypoint"
    static let insertion = "INSERT OR REPLACE INTO waypoint(key, row, shard) VALUES(?1,?2,?3)"
    /// From one place back.
    static let selectionBefore = "\(selection) WHERE shard = ?1 AND key <= ?2 ORDER BY key DESC"
    /// The first behind one place.
    static let selectionAfter =
        "\(selection) WHERE shard = ?1 AND key > ?2 ORDER BY key LIMIT 1"

    static func shard(_ kind: TenantSeqs.Kind, _ tenant: Int64) -> Int64 {
        tenant << 1 | kind.rawValue
    }

    private var shard: Int64 { Self.shard(kind, tenant) }

    /// Runs `insertion`.
    func insert(
        into buffer: inout RowBuffer, with statement: borrowing Statement
    ) throws(SQLiteError) {
        statement.bind(shard, at: 3)
        try statement.put(
            tenantSeq, buffer.row(.waypoint, tenantSeq, Numbers(shard: shard, seq: seq)))
    }

    private struct Numbers: BitwiseCopyable {
        var shard: Int64
        var seq: Int64
    }

    init(kind: TenantSeqs.Kind, tenant: Int64, tenantSeq: Int64, seq: Int64) {
        (self.kind, self.tenant, self.tenantSeq, self.seq) = (kind, tenant, tenantSeq, seq)
    }

    /// nil where the row is damaged.
    init?(shard: Int64, _ tenantSeq: Int64, _ row: RawSpan) {
        guard RowChecksum.isRight(.waypoint, tenantSeq, row),
            let found = row.numbers(Numbers.self), found.shard == shard,
            let kind = TenantSeqs.Kind(rawValue: shard & 1)
        else { return nil }
        self.init(kind: kind, tenant: shard >> 1, tenantSeq: tenantSeq, seq: found.seq)
        guard tenantSeq > 0, tenantSeq <= seq else { return nil }
    }

    /// The present row of a statement that selects as `selection` does; nil where it is damaged.
    init?(_ statement: borrowing Statement) {
        let shard = statement.integer(2)
        guard let found = statement.read({ Waypoint(shard: shard, $0, $1) }) else { return nil }
        self = found
    }

    /// The newest one of `tenant` at or before a place; nil where there is none.
    static func newest(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, upTo tenantSeq: Int64,
        with selection: borrowing Statement
    ) throws(SQLiteError) -> Waypoint? {
        selection.bind(shard(kind, tenant), at: 1)
        selection.bind(tenantSeq, at: 2)
        defer { selection.reset() }
        while try selection.step() {
            // From one before a damaged one the way is longer.
            if let waypoint = Waypoint(selection) { return waypoint }
        }
        return nil
    }

    // MARK: With history cut

    /// So many tenants one call looks at, and so many rows of each.
    private static let tenantsAtOnce: Int64 = 16
    private static let rowsAtOnce = 64

    /// Deletes those that a later one replaces: both are before the cut. Tenants take turns, from
    /// the one after `tenant`; answers where the next call begins.
    static func forget(
        before cut: LogCut, from tenant: Int64, of highest: Int64,
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> Int64 {
        guard highest > 0 else { return 0 }
        let first = tenant < highest ? tenant + 1 : 1
        let last = min(highest, first + tenantsAtOnce - 1)
        let oldest = try connection.prepare(
            "\(selection) WHERE shard = ?1 ORDER BY key LIMIT \(rowsAtOnce)")
        let deletion = try connection.prepare("DELETE FROM waypoint WHERE shard = ?1 AND key < ?2")
        for tenant in first...last {
            for (kind, seq) in [(TenantSeqs.Kind.event, cut.seq), (.fact, cut.fact)] {
                let shard = shard(kind, tenant)
                oldest.bind(shard, at: 1)
                var kept: Int64?
                while try oldest.step() {
                    if let waypoint = Waypoint(oldest), waypoint.seq <= seq { kept = oldest.key }
                }
                oldest.reset()
                guard let kept else { continue }
                deletion.bind(shard, at: 1)
                deletion.bind(kept, at: 2)
                try deletion.execute()
            }
        }
        return last
    }
}
