import TomboloCore

/// How many events and facts each tenant has, in memory: what gives each its place among those of
/// its tenant.
///
/// Changes can be taken back until `settle()`, as with `ActivityMarks`. On disk there is a row for
/// each tenant in the table `tally`, which is written now and then; the rows after it say the rest.
struct TenantSeqs {
    /// What is counted.
    enum Kind: Int64, CaseIterable {
        case event = 0
        case fact = 1
    }

    /// Of one tenant and kind.
    struct Count: Equatable {
        /// The place of the newest.
        var last: Int64 = 0
        /// By how much its sequence in the log was beyond that, at the newest waypoint.
        var gap: Int64 = 0
    }

    /// Of one tenant.
    typealias Tally = ByKind<Count>

    typealias Savepoint = (counted: Int, waypoints: Int)

    private static var nothing: Tally { Tally(event: Count(), fact: Count()) }

    private var tallies = NumberTable(empty: nothing)
    private var counted: [(kind: Kind, tenant: Int64)] = []
    /// New ones, and the gaps before them; the first of them have their rows.
    private var waypoints: [(waypoint: Waypoint, gapBefore: Int64)] = []
    private var written = 0
    /// Tenants whose rows are behind, and those whose rows an open transaction has written.
    private var behind: Set<Int64> = []
    private var renewed: Set<Int64> = []
    /// Up to these sequences the rows are right.
    var tallied = ByKind<Int64>(event: 0, fact: 0)
    private var talliedBefore: ByKind<Int64>?

    /// The newest of a tenant.
    @inline(__always)
    func tally(_ tenant: Int64) -> Tally { tallies[tenant] ?? Self.nothing }

    /// Takes over what a log has.
    mutating func set(_ tenant: Int64, _ tally: Tally) {
        tallies[tenant] = tally
        behind.insert(tenant)
    }

    // MARK: Counting

    /// The place of the tenant's next, which comes to be at `seq` of the log.
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

    /// The tenant goes on after `last`, as another log had it.
    mutating func begin(_ kind: Kind, _ tenant: Int64, after last: Int64) {
        var tally = tally(tenant)
        tally[kind].last = max(tally[kind].last, last)
        set(tenant, tally)
    }

    // MARK: Rows

    /// Waypoints that need a row; they count as written from now on.
    mutating func takeNewWaypoints() -> [Waypoint] {
        guard written < waypoints.count else { return [] }
        defer { written = waypoints.count }
        return waypoints[written...].map(\.waypoint)
    }

    /// Whether start-up would have to read many rows.
    func isFarBehind(_ last: ByKind<Int64>) -> Bool {
        last.event - tallied.event + last.fact - tallied.fact >= Self.rowsMax
    }

    /// Whether the next piece of a cut may take rows that no tally tells of.
    func mayBeCut(_ cut: LogCut, of last: ByKind<Int64>) -> Bool {
        Kind.allCases.contains {
            last[$0] > tallied[$0] && tallied[$0] - cut[$0] <= CutAllowance.rowsMax
        }
    }

    /// So many rows start-up counts: some 20 ms.
    private static let rowsMax: Int64 = 32_768

    /// The rows of `TallyRow` that are to be written, for all that is counted so far; they count as
    /// written from now on.
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

    // MARK: Taking back

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

    /// No row that the transaction wrote is there.
    mutating func rolledBack() {
        behind.formUnion(renewed)
        renewed = []
        if let talliedBefore { tallied = talliedBefore }
        talliedBefore = nil
    }

    /// What was counted and written is durable.
    mutating func settle() {
        noteBehind()
        counted.removeAll(keepingCapacity: true)
        waypoints.removeAll(keepingCapacity: true)
        written = 0
        renewed = []
        talliedBefore = nil
    }

    /// Events come in runs of one tenant.
    private mutating func noteBehind() {
        var last: Int64?
        for step in counted where step.tenant != last {
            last = step.tenant
            behind.insert(step.tenant)
        }
    }
}

/// Something of events, and the same of facts: most often a sequence.
struct ByKind<Value> {
    var event: Value
    var fact: Value

    subscript(kind: TenantSeqs.Kind) -> Value {
        get { kind == .event ? event : fact }
        set { if kind == .event { event = newValue } else { fact = newValue } }
    }
}

extension ByKind: BitwiseCopyable where Value: BitwiseCopyable {}
