/// Decides which facts are written, so that no tenant displaces the history of others: the log
/// deletes its oldest facts, whichever tenant they belong to.
///
/// The room is divided by the rate of its use: one rate for all tenants together, and an equal part
/// for each. Detail facts are left out and counted if their tenant exceeds its part *and* all
/// together exceed the whole, so that unused room is available. Pushes, deeds of operators and
/// facts about the relay are always written, and count. A single tenant may use everything.
///
/// The state is only in memory: after a restart everybody has a full burst.
struct FactShares: Sendable {
    /// The share of one tenant.
    private struct Share: Sendable {
        let tenant: TenantID
        /// When the tenant's use is back to zero, at the rate of its part.
        var clearAt = Instant.distantPast
        var leftOut: [String: Int64] = [:]
        /// Monotonic time of the first fact that was left out.
        var from = Instant.distantPast
        /// When the left-out facts were last reported.
        var saidAt: Instant?
    }

    /// Facts that were left out of a tenant's history since the last report.
    struct Thinning: Sendable {
        let tenant: TenantID
        /// Monotonic time of the first.
        let from: Instant
        /// Counts by kind, sorted.
        let leftOut: [(kind: String, count: Int64)]
    }

    /// Interval of the reports about left-out facts.
    static let sayEvery = Span.minutes(1)

    private let cost: Span
    private let burst: Span
    /// When the use of all tenants together is back to zero.
    private var clearAt = Instant.distantPast
    private var shares: [Share] = []
    private var places: [TenantID: Int] = [:]
    /// The last tenant's index: facts of a tenant often follow each other.
    private var last: Int?
    /// When the next report is due.
    private(set) var dueAt: Instant?

    /// - Parameters:
    ///   - room: nil: unlimited.
    ///   - tenants: the known tenants. Others count from their first detail fact on.
    init(_ room: FactRoom?, _ tenants: [TenantID]) {
        cost = room?.cost ?? .zero
        burst = room?.burst ?? .zero
        for tenant in Set(tenants).sorted() { _ = place(of: tenant) }
    }

    /// True if a fact is to be written. A fact that is left out is counted.
    mutating func takes(
        _ kind: String, _ body: [UInt8], of tenant: TenantID, isDetail: Bool, now: Instant
    ) -> Bool {
        guard cost > .zero else { return true }
        let place = isDetail ? place(of: tenant) : known(tenant)
        guard shares.count > 1 else { return true }
        let limit = now + burst
        if isDetail, let place, clearAt > limit, shares[place].clearAt > limit {
            leaveOut(kind, place, now: now)
            return false
        }
        let bytes = NewFact.bytes(kind: kind.utf8.count, body: body.count)
        // Facts that are always written delay the next detail fact by one burst at most.
        let end = limit + burst
        clearAt = min(max(clearAt, now) + cost.times(bytes), end)
        guard let place else { return true }
        let own = cost.times(bytes).times(Int64(shares.count))
        shares[place].clearAt = min(max(shares[place].clearAt, now) + own, end)
        return true
    }

    private mutating func leaveOut(_ kind: String, _ place: Int, now: Instant) {
        if shares[place].leftOut.isEmpty { shares[place].from = now }
        shares[place].leftOut[kind, default: 0] += 1
        let due = shares[place].saidAt.map { max(now, $0 + Self.sayEvery) } ?? now
        dueAt = min(dueAt ?? due, due)
    }

    /// The reports that are due now; with `all`, also those that are not due yet.
    mutating func thinnings(now: Instant, all: Bool = false) -> [Thinning] {
        guard let dueAt, all || dueAt <= now else { return [] }
        var found: [Thinning] = []
        self.dueAt = nil
        for index in shares.indices where !shares[index].leftOut.isEmpty {
            let due = shares[index].saidAt.map { $0 + Self.sayEvery } ?? now
            guard all || due <= now else {
                self.dueAt = min(self.dueAt ?? due, due)
                continue
            }
            found.append(thinning(shares[index]))
            shares[index].leftOut = [:]
            shares[index].saidAt = now
        }
        return found
    }

    /// The facts that were left out of a tenant's history and are not reported yet.
    func unsaid(of tenant: TenantID) -> Thinning? {
        guard let place = known(tenant), !shares[place].leftOut.isEmpty else { return nil }
        return thinning(shares[place])
    }

    private func thinning(_ share: Share) -> Thinning {
        let leftOut = share.leftOut.map { (kind: $0.key, count: $0.value) }
        return Thinning(
            tenant: share.tenant, from: share.from,
            leftOut: leftOut.sorted { $0.kind < $1.kind })
    }

    private func known(_ tenant: TenantID) -> Int? {
        if let last, shares[last].tenant == tenant { return last }
        return places[tenant]
    }

    private mutating func place(of tenant: TenantID) -> Int {
        let place = known(tenant) ?? shares.count
        if place == shares.count {
            places[tenant] = place
            shares.append(Share(tenant: tenant))
        }
        last = place
        return place
    }
}

extension NewFact {
    /// The bytes that a fact counts for: kind, body, and the overhead of the log's tables.
    @inline(__always)
    package static func bytes(kind: Int, body: Int) -> Int64 { Int64(kind + body) + 56 }
}
