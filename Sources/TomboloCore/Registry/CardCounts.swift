/// Numbers of cards: of each tenant, and of all.
struct CardCounts: Sendable {
    private var ofTenant: [TenantID: Int] = [:]
    private(set) var inAll = 0

    subscript(tenant: TenantID) -> Int { ofTenant[tenant] ?? 0 }

    mutating func add(_ count: Int, of tenant: TenantID) {
        guard count != 0 else { return }
        ofTenant[tenant, default: 0] += count
        inAll += count
    }
}
