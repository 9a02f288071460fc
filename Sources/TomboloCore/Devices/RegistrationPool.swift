/// Registrations, without users, that many devices share: there are few different systems, versions
/// and places.
struct RegistrationPool: Sendable {
    /// One shared registration.
    final class Shared: Sendable {
        let value: DeviceRegistration
        init(_ value: DeviceRegistration) { self.value = value }
    }

    /// Limit, after which the pool starts again: clients choose the values.
    static let countMax = 10_000

    private var known: [DeviceRegistration: Shared] = [:]

    init() {}

    var count: Int { known.count }

    /// An equal registration from the pool, or this one.
    mutating func shared(_ one: Shared) -> Shared {
        if let other = known[one.value] { return other }
        if known.count >= Self.countMax { known = [:] }
        known[one.value] = one
        return one
    }
}
