import TomboloAPI
import TomboloCore
import TomboloEventLog

// What happened to the relay itself, as far as an explanation looks at it.

extension ServerDoors {
    func relayFacts(
        _ tenant: TenantID, until: Instant
    ) async throws(Problem) -> [NewFact] {
        var found: [RecordedFact] = []
        for one in Set([tenant, .main]).sorted() {
            var query = FactQuery(tenant: one)
            (query.order, query.limit) = (.newestFirst, 200)
            // What happened to another tenant's apps and pauses is not for this one to know.
            query.kinds =
                one == tenant
                ? Evidence.relayKinds : Evidence.relayKinds.filter(NewFact.isOfRelay)
            query.until = until
            found += try await facts(query)
        }
        return found.sorted { $0.seq < $1.seq }.map(\.fact)
    }

    /// Of a relay that crashes again and again, so many starts are looked at.
    static let explainedStartsMax = 10

    /// When the relay wrote its last fact before a moment.
    func seen(
        before moment: Instant, _ tenant: TenantID
    ) async throws(Problem) -> Instant? {
        var found: [Instant] = []
        for one in Set([tenant, .main]).sorted() {
            var query = FactQuery(tenant: one)
            (query.order, query.limit, query.until) = (.newestFirst, 1, moment)
            found += try await facts(query).map(\.fact.recordedAt)
        }
        return found.max()
    }
}

extension NewFact {
    /// Whether facts of a kind are about the relay as a whole: not a tenant's apps or phones.
    fileprivate static func isOfRelay(_ kind: String) -> Bool {
        ["relay.", "disk.", "log.", "clock."].contains { kind.hasPrefix($0) }
    }
}
