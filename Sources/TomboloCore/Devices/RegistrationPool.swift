/// Registrations, without users, that many devices share. Most devices have one of a few
/// combinations of system, app version and language.
struct RegistrationPool: Sendable {
    final class Shared: Sendable {
        let value: DeviceRegistration
        init(_ value: DeviceRegistration) { self.value = value }
    }

    /// Above this number the pool starts empty again, because clients choose the values.
    static let countMax = 10_000

    private var known: [DeviceRegistration: Shared] = [:]

    init() {}

    var count: Int { known.count }

    /// The equal registration in the pool. If the pool has none, adds `one` and returns it.
    mutating func shared(_ one: Shared) -> Shared {
        if let other = known[one.value] { return other }
        if known.count >= Self.countMax { known = [:] }
        known[one.value] = one
        return one
    }
}
