import TomboloCore

/// How many events and facts each tenant has, in memory. A new row's place among its tenant's rows
/// is the next number.
///
/// Changes can be undone until `settle()`, as in `ActivityPositions`. On disk, the table `tally`
/// has a row for each tenant, which is written from time to time; later rows are counted at
/// start-up.
struct TenantSeqs {
    /// The kind of rows that is counted.
    enum Kind: Int64, CaseIterable {
        case event = 0
        case fact = 1
    }

    /// Count of one tenant's rows of one kind.
    struct Count: Equatable {
        /// Place of the newest row.
        var last: Int64 = 0
        /// Difference between sequence and place at the tenant's newest waypoint.
        var gap: Int64 = 0
    }

    typealias Tally = ByKind<Count>

    typealias Savepoint = (counted: Int, waypoints: Int)

    private static var nothing: Tally { Tally(event: Count(), fact: Count()) }

    private var tallies = NumberTable(empty: nothing)
    private var counted: [(kind: Kind, tenant: Int64)] = []
    /// New waypoints, each with the gap before it. Rows of the first `written` ones are written.
    private var waypoints: [(waypoint: Waypoint, gapBefore: Int64)] = []
    private var written = 0
    /// Tenants whose rows in `tally` are outdated, and those that the open transaction writes.
    private var behind: Set<Int64> = []
    private var renewed: Set<Int64> = []
    /// The rows in `tally` count the log's rows up to these sequences.
    var tallied = ByKind<Int64>(event: 0, fact: 0)
    private var talliedBefore: ByKind<Int64>?

    @inline(__always)
    func tally(_ tenant: Int64) -> Tally { tallies[tenant] ?? Self.nothing }

    mutating func set(_ tenant: Int64, _ tally: Tally) {
        tallies[tenant] = tally
        behind.insert(tenant)
    }

    // MARK: Counting

    /// Counts the tenant's next row, at `seq` of the log, and returns its place.
    @inline(__always)
    mutating func count(_ kind: Kind, _ tenant: Int64, at seq: Int64) -> Int64 {
        var tally = tally(tenant)
        var count = tally[kind]
        count.last += 1
        let gap = seq - count.last
        if Waypoint.isDue(gap: gap, before: count.gap) {
            let waypoint = Waypoint(kind: kind, tenant: tenant, tenantSeq: count.last, seq: seq)
            waypoints.append((waypoint, count.gap))
            count.gap = gap
        }
        tally[kind] = count
        tallies[tenant] = tally
        counted.append((kind, tenant))
        return count.last
    }

    /// Makes the tenant's next row follow place `last`, which comes from another log.
    mutating func begin(_ kind: Kind, _ tenant: Int64, after last: Int64) {
        var tally = tally(tenant)
        tally[kind].last = max(tally[kind].last, last)
        set(tenant, tally)
    }

    // MARK: Rows

    /// Returns the waypoints whose rows are not written yet. Afterwards they count as written.
    mutating func takeNewWaypoints() -> [Waypoint] {
        guard written < waypoints.count else { return [] }
        defer { written = waypoints.count }
        return waypoints[written...].map(\.waypoint)
    }

    /// True if start-up would have to count too many rows.
    func isFarBehind(_ last: ByKind<Int64>) -> Bool {
        last.event - tallied.event + last.fact - tallied.fact >= Self.rowsMax
    }

    /// True if the next piece of a cut may delete rows that the table `tally` does not count yet.
    func mayBeCut(_ cut: LogCut, of last: ByKind<Int64>) -> Bool {
        Kind.allCases.contains {
            last[$0] > tallied[$0] && tallied[$0] - cut[$0] <= CutAllowance.rowsMax
        }
    }

    /// Maximum number of rows that start-up has to count, which takes about 20 ms.
    private static let rowsMax: Int64 = 32_768

    /// Returns the current counts of tenants whose rows are outdated. Then they count as written.
    mutating func takeBehind(
        upTo last: ByKind<Int64>
    ) -> [(tenant: Int64, row: ByKind<Int64>)] {
        noteBehind()
        if talliedBefore == nil { talliedBefore = tallied }
        tallied = last
        renewed.formUnion(behind)
        defer { behind = [] }
        let rows = behind.sorted().map { tenant in
            let tally = tally(tenant)
            return (tenant, ByKind(event: tally.event.last, fact: tally.fact.last))
        }
        return rows + [(TallyRow.everybody, last)]
    }

    // MARK: Undoing

    var savepoint: Savepoint { (counted.count, waypoints.count) }

    mutating func takeBack(to savepoint: Savepoint) {
        while waypoints.count > savepoint.waypoints, let (waypoint, gap) = waypoints.popLast() {
            tallies[waypoint.tenant]?[waypoint.kind].gap = gap
        }
        written = min(written, waypoints.count)
        while counted.count > savepoint.counted, let step = counted.popLast() {
            tallies[step.tenant]?[step.kind].last -= 1
        }
    }

    /// Call it when the transaction was rolled back: the rows written in it are lost.
    mutating func rolledBack() {
        behind.formUnion(renewed)
        renewed = []
        if let talliedBefore { tallied = talliedBefore }
        talliedBefore = nil
    }

    /// Call it when all counts and rows are durable.
    mutating func settle() {
        noteBehind()
        counted.removeAll(keepingCapacity: true)
        waypoints.removeAll(keepingCapacity: true)
        written = 0
        renewed = []
        talliedBefore = nil
    }

    /// Notes the tenants with outdated rows. Consecutive events mostly belong to one tenant, so it
    /// skips repetitions.
    private mutating func noteBehind() {
        var last: Int64?
        for step in counted where step.tenant != last {
            last = step.tenant
            behind.insert(step.tenant)
        }
    }
}

/// A pair of values, for events and for facts: mostly sequences.
struct ByKind<Value> {
    var event: Value
    var fact: Value

    subscript(kind: TenantSeqs.Kind) -> Value {
        get { kind == .event ? event : fact }
        set { if kind == .event { event = newValue } else { fact = newValue } }
    }
}

extension ByKind: BitwiseCopyable where Value: BitwiseCopyable {}
