import TomboloCore

/// How many events and facts each tenant has, in memory: what gives each its place among those of
/// its tenant.
///
/// Changes can be taken back until `settle()`, as with `ActivityMarks`. On disk there is a row for
/// each tenant in the table `tally`, which is written now and then; the rows after it say the rest.
struct TenantSeqs {
    /// What is counted.
    enum Kind: Int64 {
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
    struct Tally: Equatable {
        var event = Count()
        var fact = Count()

        subscript(kind: Kind) -> Count {
            get { kind == .event ? event : fact }
            set { if kind == .event { event = newValue } else { fact = newValue } }
        }
    }

    struct Savepoint {
        fileprivate var counted: Int
        fileprivate var waypoints: Int
    }

    private var tallies = NumberTable(empty: Tally())
    private var counted: [(kind: Kind, tenant: Int64)] = []
    /// New ones, and the gaps before them; the first of them have their rows.
    private var waypoints: [(waypoint: Waypoint, gapBefore: Int64)] = []
    private var written = 0
    /// Tenants whose rows are behind, and those whose rows an open transaction has written.
    private var behind: Set<Int64> = []
    private var renewed: Set<Int64> = []
    /// Up to these sequences the rows are right.
    private(set) var tallied = TalliedUpTo()
    private var talliedBefore: TalliedUpTo?

    /// The newest of a tenant.
    func tally(_ tenant: Int64) -> Tally { tallies[tenant] ?? Tally() }

    /// Takes over what start-up found.
    mutating func recover(_ tenant: Int64, _ tally: Tally) {
        tallies[tenant] = tally
        behind.insert(tenant)
    }

    mutating func recover(_ tallied: TalliedUpTo) { self.tallied = tallied }

    // MARK: Counting

    /// The place of the tenant's next, which comes to be at `seq` of the log.
    @inline(__always)
    mutating func count(_ kind: Kind, _ tenant: Int64, at seq: Int64) -> Int64 {
        var tally = tallies[tenant] ?? Tally()
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
        var tally = tallies[tenant] ?? Tally()
        tally[kind].last = max(tally[kind].last, last)
        tallies[tenant] = tally
        behind.insert(tenant)
    }

    // MARK: Rows

    /// Waypoints that need a row; they count as written from now on.
    mutating func takeNewWaypoints() -> [Waypoint] {
        guard written < waypoints.count else { return [] }
        defer { written = waypoints.count }
        return waypoints[written...].map(\.waypoint)
    }

    /// Whether start-up would have to read many rows.
    func isFarBehind(_ last: TalliedUpTo) -> Bool {
        last.event - tallied.event + last.fact - tallied.fact >= Self.rowsMax
    }

    /// Whether the next piece of a cut may take rows that no tally tells of.
    func mayBeCut(_ cut: LogCut, of last: TalliedUpTo) -> Bool {
        (last.event > tallied.event && tallied.event - cut.seq <= CutAllowance.rowsMax)
            || (last.fact > tallied.fact && tallied.fact - cut.fact <= CutAllowance.rowsMax)
    }

    /// So many rows start-up counts: some 20 ms.
    private static let rowsMax: Int64 = 32_768

    /// The tallies that need a row, for all that is counted so far; they count as written from now
    /// on.
    mutating func takeBehind(upTo last: TalliedUpTo) -> [(tenant: Int64, tally: Tally)] {
        noteBehind()
        if talliedBefore == nil { talliedBefore = tallied }
        tallied = last
        renewed.formUnion(behind)
        defer { behind = [] }
        return behind.sorted().map { ($0, tally($0)) }
    }

    // MARK: Taking back

    var savepoint: Savepoint {
        Savepoint(counted: counted.count, waypoints: waypoints.count)
    }

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
