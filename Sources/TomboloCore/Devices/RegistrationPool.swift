/// Registrations that many devices have in common, but for their users: most are of a few systems,
/// versions and places, and there are many devices.
struct RegistrationPool: Sendable {
    /// One registration.
    final class Shared: Sendable {
        let value: DeviceRegistration
        init(_ value: DeviceRegistration) { self.value = value }
    }

    /// Beyond so many it begins anew: devices may say what they like.
    static let countMax = 10_000

    private var known: [DeviceRegistration: Shared] = [:]

    init() {}

    var count: Int { known.count }

    /// An equal one that was seen before, or this one.
    mutating func shared(_ one: Shared) -> Shared {
        if let other = known[one.value] { return other }
        if known.count >= Self.countMax { known = [:] }
        known[one.value] = one
        return one
    }
}
