/// Counters of each tenant, kept apart so that none can learn about another.
struct CountersByTenant: Sendable {
    private var places: [TenantID: Int] = [:]
    private var counters: [CoreCounters] = []
    /// The last tenant: most relays have one, and inputs of others come in runs.
    private var last: (tenant: TenantID, place: Int)?

    subscript(tenant: TenantID) -> CoreCounters {
        get { places[tenant].map { counters[$0] } ?? CoreCounters() }
        _modify {
            let place = place(of: tenant)
            yield &counters[place]
        }
    }

    private mutating func place(of tenant: TenantID) -> Int {
        if let last, last.tenant == tenant { return last.place }
        let place = places[tenant] ?? counters.count
        if place == counters.count {
            places[tenant] = place
            counters.append(CoreCounters())
        }
        last = (tenant, place)
        return place
    }
}
