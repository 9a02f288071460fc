/// A user of one tenant.
struct UserKey: Hashable, Sendable {
    var tenant: TenantID
    var user: String

    static func == (one: UserKey, other: UserKey) -> Bool {
        isSameText(one.user, other.user) && one.tenant == other.tenant
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(tenant)
        hasher.combine(bytesOf: user)
    }
}
