// What may be kept at most: every refusal names its limit, before anything is stored.

/// Starts that are taken and not durable yet, by whom they are for.
struct ComingStarts: Sendable {
    var users: [Core.UserKey: Int] = [:]
    var devices: [DeviceKey: Int] = [:]
    var channels: [ChannelKey: Int] = [:]
    /// Cards that they will make, and names of devices that are not registered.
    private(set) var cards = CardCounts()

    /// Cards more, or fewer, of starts that are on their way.
    mutating func addCards(_ count: Int, of tenant: TenantID) { cards.add(count, of: tenant) }

    /// A start is taken (1), or has become durable or is taken back (-1).
    mutating func add(_ count: Int, _ audience: Audience, of tenant: TenantID) {
        switch audience {
        case .none: break
        case .channel(let name):
            Self.add(count, &channels, ChannelKey(tenant: tenant, name: name))
        case .user(let user):
            Self.add(count, &users, Core.UserKey(tenant: tenant, user: user))
        case .devices(let ids):
            for id in ids { Self.add(count, &devices, DeviceKey(tenant: tenant, id: id)) }
        }
    }

    private static func add<Key>(_ count: Int, _ counts: inout [Key: Int], _ key: Key) {
        let sum = (counts[key] ?? 0) + count
        counts[key] = sum == 0 ? nil : sum
    }
}

/// Cards of each tenant and in all.
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

/// How many there are, of each tenant and in all.
struct Population: Sendable {
    /// On devices, and names of devices that are not registered.
    private(set) var cards = CardCounts()
    private(set) var running: [TenantID: Int] = [:]
    private(set) var runningInAll = 0
    private(set) var devices: [TenantID: Int] = [:]
    /// Places of activities on registered devices and channels.
    private(set) var destinations: [TenantID: Int] = [:]

    mutating func addRunning(_ count: Int, of tenant: TenantID) {
        running[tenant, default: 0] += count
        runningInAll += count
    }

    mutating func addCards(_ count: Int, of tenant: TenantID) { cards.add(count, of: tenant) }

    mutating func addDestination(_ count: Int, of tenant: TenantID) {
        destinations[tenant, default: 0] += count
    }

    mutating func addDevice(_ count: Int, of tenant: TenantID) {
        devices[tenant, default: 0] += count
    }
}

/// How many places the core's tables have, free ones among them.
package struct TablePlaces: Hashable, Sendable {
    package var activities, devices, destinations, surfaces: Int
}

extension Core {
    package var places: TablePlaces {
        TablePlaces(
            activities: activities.count, devices: devices.count,
            destinations: destinations.indices.count, surfaces: surfaces.count)
    }

    /// An activity has begun, ended or left, or an end is taken back.
    mutating func recount(_ slot: Int) {
        let runs = !activities[slot].hasEnded
        guard runs != activities[slot].isCounted else { return }
        activities[slot].isCounted = runs
        population.addRunning(runs ? 1 : -1, of: activities[slot].key.tenant)
    }

    /// A device has its place.
    mutating func place(_ slot: Int, _ key: DeviceKey) {
        if deviceByKey.updateValue(slot, forKey: key) == nil {
            population.addDevice(1, of: key.tenant)
        }
    }

    /// It has none any more.
    mutating func displace(_ key: DeviceKey) {
        if deviceByKey.removeValue(forKey: key) != nil { population.addDevice(-1, of: key.tenant) }
    }

    static func full(_ what: String, _ limit: String, _ remedy: String) -> Refusal {
        Refusal(.limitReached, "\(what); \(remedy), or raise limits.\(limit) in the configuration")
    }

    /// Nil where one more key of a tenant may be kept.
    mutating func refusalOfKey(of tenant: TenantID, now: Instant) -> Refusal? {
        guard refusalOfKey(of: tenant) != nil else { return nil }
        idempotency.forget(before: now - configuration.limits.idempotency)
        return refusalOfKey(of: tenant)
    }

    private func refusalOfKey(of tenant: TenantID) -> Refusal? {
        let limits = configuration.limits
        let remedy = "send the request without one"
        let own = idempotency.count(of: tenant)
        if own >= limits.idempotencyKeysPerTenantMax {
            return Self.full(
                "\(own) idempotency keys of a day are kept", "idempotency_keys_per_tenant", remedy)
        }
        guard idempotency.count >= limits.idempotencyKeysMax else { return nil }
        return Self.full(
            "the relay keeps the idempotency keys of a day, and has as many as it may",
            "idempotency_keys", remedy)
    }

    /// Whom a start is for is there, and may have one more card.
    ///
    /// - Parameter isTry: room that others would have to leave first counts as there.
    func checkAudience(
        _ start: Start, _ key: ActivityKey, isTry: Bool = false
    ) throws(Refusal) {
        let tenant = key.tenant
        let mayHaveRoom = isTry && retirements.count > 0
        try checkRunning(of: tenant)
        if !mayHaveRoom { try checkCards(more: cards(of: start.audience, tenant), of: tenant) }
        switch start.audience {
        case .none: break
        case .channel: try checkChannel(start, key)
        case .user(let user):
            let key = UserKey(tenant: tenant, user: user)
            let running = (audienceByUser[key]?.count ?? 0) + (coming.users[key] ?? 0)
            try checkRunning(running, "the user \"\(user)\"")
            if !mayHaveRoom { try checkReach(devicesByUser[key] ?? [], others: 0) }
        case .devices(let ids):
            var known: [Int] = []
            for id in ids {
                let key = DeviceKey(tenant: tenant, id: id)
                let device = deviceByKey[key]
                let named = device.map { devices[$0]?.audience.count ?? 0 }
                let running = named ?? audienceByDevice[key]?.count ?? 0
                try checkRunning(running + (coming.devices[key] ?? 0), "the device \"\(id)\"")
                if let device { known.append(device) }
            }
            if !mayHaveRoom { try checkReach(known, others: ids.count - known.count) }
        }
    }

    /// A device that has all its cards is left out; where all have, nobody would see the start.
    private func checkReach(_ known: [Int], others: Int) throws(Refusal) {
        guard others == 0, let first = known.first, known.allSatisfy(isFull) else { return }
        try checkCards(of: first, more: 1)
    }

    private func checkRunning(of tenant: TenantID) throws(Refusal) {
        let limits = configuration.limits
        let remedy = "end those that are over (POST /v1/activities/end)"
        let own = population.running[tenant] ?? 0
        guard own < limits.runningPerTenantMax else {
            throw Self.full("\(own) activities run", "activities_per_tenant", remedy)
        }
        guard population.runningInAll < limits.runningMax else {
            throw Self.full(
                "the relay has as many running activities as it keeps", "activities", remedy)
        }
    }

    private func checkRunning(_ count: Int, _ recipient: String) throws(Refusal) {
        guard count >= configuration.limits.runningPerRecipientMax else { return }
        throw Self.full(
            "\(recipient) has \(count) running activities", "activities_per_user",
            "end those that are over")
    }

    /// A device comes to a user: both stay small enough to be looked at in one piece.
    func checkBounds(
        _ registration: DeviceRegistration, _ key: DeviceKey, known: Int?
    ) throws(Refusal) {
        if known == nil { try checkDevices(of: key.tenant) }
        guard let user = registration.user,
            known.flatMap({ devices[$0]?.registration.user }) != user
        else { return }
        let key = UserKey(tenant: key.tenant, user: user)
        let count = devicesByUser[key]?.count ?? 0
        guard count < configuration.limits.devicesPerUserMax else {
            throw Self.full(
                "the user \"\(user)\" has \(count) devices", "devices_per_user",
                "delete those that are gone (DELETE /v1/devices/{device})")
        }
        let cards = running(forUser: key)
        try checkCards(more: cards, of: key.tenant)
        if let known { try checkCards(of: known, more: cards) }
    }

    private func checkDevices(of tenant: TenantID) throws(Refusal) {
        let limits = configuration.limits
        let remedy = "delete those that are gone (DELETE /v1/devices/{device})"
        let own = population.devices[tenant] ?? 0
        guard own < limits.devicesPerTenantMax else {
            throw Self.full("\(own) devices are registered", "devices_per_tenant", remedy)
        }
        guard deviceByKey.count < limits.devicesMax else {
            throw Self.full("the relay has as many devices as it keeps", "devices", remedy)
        }
    }
}
