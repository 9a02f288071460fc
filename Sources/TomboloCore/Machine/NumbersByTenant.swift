/// Numbers 1, 2, 3 … for each tenant.
struct NumbersByTenant: Sendable {
    private var places: [TenantID: Int] = [:]
    private var numbers: [Int64] = []
    /// Most relays have one tenant, and the others come in runs.
    private var last: (tenant: TenantID, place: Int)?

    init() {}

    mutating func next(of tenant: TenantID) -> Int64 {
        let place = place(of: tenant)
        numbers[place] += 1
        return numbers[place]
    }

    private mutating func place(of tenant: TenantID) -> Int {
        if let last, last.tenant == tenant { return last.place }
        let place = places[tenant] ?? numbers.count
        if place == numbers.count {
            places[tenant] = place
            numbers.append(0)
        }
        last = (tenant, place)
        return place
    }
}
