import TomboloAPI
import TomboloCore
import TomboloEventLog

// Facts about the relay itself for an explanation.

extension ServerDoors {
    func relayFacts(_ tenant: TenantID, until: Instant) async throws(Problem) -> [NewFact] {
        var found: [RecordedFact] = []
        for one in Set([tenant, .main]).sorted() {
            var query = FactQuery(tenant: one)
            (query.order, query.limit) = (.newestFirst, 200)
            // From the log of `main`, read only facts about the whole relay: a tenant must not
            // learn about the apps and pauses of another one.
            query.kinds =
                one == tenant
                ? Evidence.relayKinds : Evidence.relayKinds.filter(NewFact.isOfRelay)
            query.until = until
            found += try await facts(query).facts
        }
        return found.sorted { $0.seq < $1.seq }.map(\.fact)
    }

    /// Maximum number of starts of the relay that are examined, because it may crash repeatedly.
    static let explainedStartsMax = 10

    /// The time of the last fact that the relay recorded before `moment`; nil if there is none.
    func seen(before moment: Instant, _ tenant: TenantID) async throws(Problem) -> Instant? {
        var found: [Instant] = []
        for one in Set([tenant, .main]).sorted() {
            var query = FactQuery(tenant: one)
            (query.order, query.limit, query.until) = (.newestFirst, 1, moment)
            found += try await facts(query).facts.map(\.fact.recordedAt)
        }
        return found.max()
    }
}

extension NewFact {
    /// True if facts of this kind are about the whole relay, not about a tenant's apps or phones.
    fileprivate static func isOfRelay(_ kind: String) -> Bool {
        ["relay.", "disk.", "log.", "clock."].contains { kind.hasPrefix($0) }
    }
}
