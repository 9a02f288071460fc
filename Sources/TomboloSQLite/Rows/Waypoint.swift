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

    static let schema = """
        CREATE TABLE waypoint(
            kind INTEGER NOT NULL, tenant INTEGER NOT NULL, tenant_seq INTEGER NOT NULL,
            seq INTEGER NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(kind, tenant, tenant_seq))
            WITHOUT ROWID;
        """
    static let columns = "kind, tenant, tenant_seq, seq, crc"
    static let insertion = "INSERT OR REPLACE INTO waypoint(\(columns)) VALUES(?1,?2,?3,?4,?5)"
    /// From one place back.
    static let selectionBefore = """
        SELECT \(columns) FROM waypoint WHERE kind = ?1 AND tenant = ?2 AND tenant_seq <= ?3
        ORDER BY tenant_seq DESC
        """
    /// The first behind one place.
    static let selectionAfter = """
        SELECT \(columns) FROM waypoint WHERE kind = ?1 AND tenant = ?2 AND tenant_seq > ?3
        ORDER BY tenant_seq LIMIT 1
        """

    /// Runs `insertion`.
    func insert(with statement: borrowing Statement) throws(SQLiteError) {
        statement.bind(kind.rawValue, at: 1)
        statement.bind(tenant, at: 2)
        statement.bind(tenantSeq, at: 3)
        statement.bind(seq, at: 4)
        statement.bind(checksum, at: 5)
        try statement.execute()
    }

    init(kind: TenantSeqs.Kind, tenant: Int64, tenantSeq: Int64, seq: Int64) {
        (self.kind, self.tenant, self.tenantSeq, self.seq) = (kind, tenant, tenantSeq, seq)
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    init?(_ statement: borrowing Statement) {
        guard let kind = TenantSeqs.Kind(rawValue: statement.integer(0)) else { return nil }
        self.init(
            kind: kind, tenant: statement.integer(1), tenantSeq: statement.integer(2),
            seq: statement.integer(3))
        guard checksum == statement.integer(4), tenantSeq > 0, tenantSeq <= seq else { return nil }
    }

    private var checksum: Int64 {
        var sum = RowChecksum(.waypoint)
        sum.add((kind.rawValue, tenant, tenantSeq, seq))
        return sum.stored
    }

    /// The newest one of `tenant` at or before a place; nil where there is none.
    static func newest(
        _ kind: TenantSeqs.Kind, _ tenant: Int64, upTo tenantSeq: Int64,
        with selection: borrowing Statement
    ) throws(SQLiteError) -> Waypoint? {
        selection.bind(kind.rawValue, at: 1)
        selection.bind(tenant, at: 2)
        selection.bind(tenantSeq, at: 3)
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
        let deletion = try connection.prepare(
            """
            DELETE FROM waypoint WHERE kind = ?1 AND tenant = ?2 AND tenant_seq < (
                SELECT max(tenant_seq) FROM (
                    SELECT tenant_seq, seq FROM waypoint WHERE kind = ?1 AND tenant = ?2
                    ORDER BY tenant_seq LIMIT \(rowsAtOnce))
                WHERE seq <= ?3)
            """)
        for tenant in first...last {
            for (kind, seq) in [(TenantSeqs.Kind.event, cut.seq), (.fact, cut.fact)] {
                deletion.bind(kind.rawValue, at: 1)
                deletion.bind(tenant, at: 2)
                deletion.bind(seq, at: 3)
                try deletion.execute()
            }
        }
        return last
    }
}
