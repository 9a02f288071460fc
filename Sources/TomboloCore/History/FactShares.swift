/// Decides which facts are written. The log deletes its oldest facts, of whichever tenant, so
/// without limits one tenant could displace the history of the others.
///
/// There is one rate of bytes for all tenants together, and an equal part of it for each tenant. A
/// detail fact is left out, and counted, only if its tenant exceeds its part *and* all tenants
/// together exceed the whole: so a tenant may use what others leave. Pushes, operators' actions and
/// facts about the relay are always written, and their bytes count. A single tenant has no limit.
///
/// The state is only in memory: after a restart each tenant has its full burst again.
struct FactShares: Sendable {
    private struct Share: Sendable {
        let tenant: TenantID
        /// When the rate of its part has allowed all bytes that the tenant has used so far.
        var clearAt = Instant.distantPast
        var leftOut: [String: Int64] = [:]
        /// Monotonic time of the first fact that was left out.
        var from = Instant.distantPast
        /// When the facts that were left out were last reported.
        var saidAt: Instant?
    }

    /// The number of facts that were left out of a tenant's history since the last report.
    struct Thinning: Sendable {
        let tenant: TenantID
        /// Monotonic time of the first one.
        let from: Instant
        /// Counts by kind, sorted by kind.
        let leftOut: [(kind: String, count: Int64)]
    }

    /// Shortest time between two reports for a tenant.
    static let sayEvery = Span.minutes(1)

    private let cost: Span
    private let burst: Span
    /// When the rate has allowed all bytes that all tenants together have used so far.
    private var clearAt = Instant.distantPast
    private var shares: [Share] = []
    private var places: [TenantID: Int] = [:]
    /// Index of the tenant used last, because facts of one tenant often follow each other.
    private var last: Int?
    /// When the next report is due.
    private(set) var dueAt: Instant?

    /// - Parameters:
    ///   - room: rate and burst of bytes; nil: unlimited.
    ///   - tenants: the configured tenants. Another one counts from its first detail fact on.
    init(_ room: FactRoom?, _ tenants: [TenantID]) {
        cost = room?.cost ?? .zero
        burst = room?.burst ?? .zero
        for tenant in Set(tenants).sorted() { _ = place(of: tenant) }
    }

    /// True if the fact must be written; else the fact is counted as left out.
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
        // Facts that are always written may not delay detail facts without limit.
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

    /// The reports that are due now; with `all`, also the others that have facts to report.
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

    /// The number of facts that were left out of a tenant's history and are not reported yet.
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
    /// The bytes that count for a fact: kind, body, and the overhead in the log's tables.
    @inline(__always)
    package static func bytes(kind: Int, body: Int) -> Int64 { Int64(kind + body) + 56 }
}
