/// Whose facts are written, so that no tenant pushes out the history of the others: the log cuts
/// its oldest facts, whose they are.
///
/// The room is divided by the rate at which it is used up: for all tenants together, and for each
/// of them an equal part. Facts of detail are left out, and counted, where their tenant is beyond
/// its part *and* all together are beyond the whole: what the others do not need is free. Pushes,
/// operators' deeds and what happens to the relay are always written, and count. A tenant that is
/// alone has everything.
///
/// It is kept in memory: a relay that starts gives everybody a full burst.
struct FactShares: Sendable {
    /// Of one tenant.
    private struct Share: Sendable {
        let tenant: TenantID
        /// When what it wrote has used up no room any more, as its part of the room goes.
        var clearAt = Instant.distantPast
        var leftOut: [String: Int64] = [:]
        /// The first of these, by steady time.
        var from = Instant.distantPast
        /// When it was said last that some are left out.
        var saidAt: Instant?
    }

    /// What was left out of a tenant's history since this was said last.
    struct Thinning: Sendable {
        let tenant: TenantID
        /// Steady time.
        let from: Instant
        /// By kind, sorted.
        let leftOut: [(kind: String, count: Int64)]
    }

    /// What was left out is said so often.
    static let sayEvery = Span.minutes(1)

    private let cost: Span
    private let burst: Span
    /// As in `Share`, for all.
    private var clearAt = Instant.distantPast
    private var shares: [Share] = []
    private var places: [TenantID: Int] = [:]
    /// Facts of a tenant come in runs.
    private var last: Int?
    /// When something is to be said.
    private(set) var dueAt: Instant?

    /// - Parameters:
    ///   - room: nil: there is room for everything.
    ///   - tenants: those that are known. One that is not counts from its first fact of detail on.
    init(_ room: FactRoom?, _ tenants: [TenantID]) {
        cost = room?.cost ?? .zero
        burst = room?.burst ?? .zero
        for tenant in Set(tenants).sorted() { _ = place(of: tenant) }
    }

    /// Whether a fact is written; one that is not is counted.
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
        // What is always written delays the next detail by one burst at most.
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

    /// What is to be said now; with `all` also what could wait.
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

    /// What was left out of a tenant's history, and is not said yet.
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
    /// What a fact counts against the bytes that facts may take: its words, and what the tables of
    /// a log need beside them.
    @inline(__always)
    package static func bytes(kind: Int, body: Int) -> Int64 { Int64(kind + body) + 56 }
}
