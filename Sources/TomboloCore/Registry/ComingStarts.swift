/// Numbers of starts that are accepted but not durable, by their audience.
struct ComingStarts: Sendable {
    var users: [UserKey: Int] = [:]
    var devices: [DeviceKey: Int] = [:]
    var channels: [ChannelKey: Int] = [:]
    /// Number of cards that these starts will make, with names of unregistered devices.
    private(set) var cards = CardCounts()

    /// Adds to the number of these cards.
    mutating func addCards(_ count: Int, of tenant: TenantID) { cards.add(count, of: tenant) }

    /// Counts a start that is accepted (1), or that is durable now or was rolled back (-1).
    mutating func add(_ count: Int, _ audience: Audience, of tenant: TenantID) {
        switch audience {
        case .none: break
        case .channel(let name):
            Self.add(count, &channels, ChannelKey(tenant: tenant, name: name))
        case .user(let user):
            Self.add(count, &users, UserKey(tenant: tenant, user: user))
        case .devices(let ids):
            for id in ids { Self.add(count, &devices, DeviceKey(tenant: tenant, id: id)) }
        }
    }

    private static func add<Key>(_ count: Int, _ counts: inout [Key: Int], _ key: Key) {
        let sum = (counts[key] ?? 0) + count
        counts[key] = sum == 0 ? nil : sum
    }
}
