/// Counters of each tenant. They are separate, so that no tenant learns about another.
struct CountersByTenant: Sendable {
    private var places: [TenantID: Int] = [:]
    private var counters: [CoreCounters] = []
    /// The tenant used last, because inputs of one tenant often follow each other.
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
