/// The last serial that a tenant gave to each kind of what the relay names itself.
struct SerialsByTenant: Sendable {
    /// Of one tenant.
    struct Serials: Sendable {
        var pauses: Int64 = 0
        /// The number of the record that keeps `pauses` when that pause is over.
        var endedPause: Int64?
        var deadLetters: Int64 = 0
    }

    private var all: [TenantID: Serials] = [:]

    init() {}

    subscript(tenant: TenantID) -> Serials {
        get { all[tenant] ?? Serials() }
        set { all[tenant] = newValue }
    }
}
