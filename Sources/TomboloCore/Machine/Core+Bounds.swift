// What may be kept at most: every refusal names its limit, before anything is stored.

/// Starts that are taken and not durable yet, by whom they are for.
struct ComingStarts: Sendable {
    var users: [Core.UserKey: Int] = [:]
    var devices: [DeviceKey: Int] = [:]
    var channels: [ChannelKey: Int] = [:]

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

/// How many there are, of each tenant and in all.
struct Population: Sendable {
    private(set) var running: [TenantID: Int] = [:]
    private(set) var runningInAll = 0
    private(set) var devices: [TenantID: Int] = [:]

    mutating func addRunning(_ count: Int, of tenant: TenantID) {
        running[tenant, default: 0] += count
        runningInAll += count
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
            destinations: destinations.count, surfaces: surfaces.count)
    }

    /// An activity has begun, ended or left, or an end is taken back.
    mutating func recount(_ slot: Int) {
        let runs = !activities[lent: slot].hasEnded
        guard runs != activities[lent: slot].isCounted else { return }
        activities[slot].isCounted = runs
        population.addRunning(runs ? 1 : -1, of: activities[lent: slot].key.tenant)
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

    private static func full(_ what: String, _ limit: String, _ remedy: String) -> Refusal {
        Refusal(.limitReached, "\(what); \(remedy), or raise limits.\(limit) in the configuration")
    }

    /// Nil where one more key may be kept.
    mutating func refusalOfKey(now: Instant) -> Refusal? {
        guard idempotency.count >= configuration.limits.idempotencyKeysMax else { return nil }
        idempotency.forget(before: now - configuration.limits.idempotency)
        guard idempotency.count >= configuration.limits.idempotencyKeysMax else { return nil }
        return Self.full(
            "the relay keeps the idempotency keys of a day, and has as many as it may",
            "idempotency_keys", "send the request without one")
    }

    /// Whom a start is for is there, and may have one more card.
    func checkAudience(_ start: Start, _ key: ActivityKey) throws(Refusal) {
        let tenant = key.tenant
        try checkRunning(of: tenant)
        switch start.audience {
        case .none: break
        case .channel: try checkChannel(start, key)
        case .user(let user):
            let key = UserKey(tenant: tenant, user: user)
            let running = (audienceByUser[key]?.count ?? 0) + (coming.users[key] ?? 0)
            try checkRunning(running, "the user \"\(user)\"")
            let devices = devicesByUser[key] ?? []
            try checkCards(more: devices.count)
            for device in devices { try checkCards(of: device, more: 1) }
        case .devices(let ids):
            try checkCards(more: ids.count)
            for id in ids {
                let key = DeviceKey(tenant: tenant, id: id)
                let device = deviceByKey[key]
                let named = device.map { devices[$0]?.audience.count ?? 0 }
                let running = named ?? audienceByDevice[key]?.count ?? 0
                try checkRunning(running + (coming.devices[key] ?? 0), "the device \"\(id)\"")
                if let device { try checkCards(of: device, more: 1) }
            }
        }
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

    /// Of all devices.
    private func checkCards(more: Int) throws(Refusal) {
        let count = destinations.count - freeDestinations.count + namesWithoutDevice
        guard more > 0, count + more > configuration.limits.cardsMax else { return }
        throw Self.full(
            "the relay has as many cards on devices as it keeps", "cards",
            "end activities that are over (POST /v1/activities/end)")
    }

    private func checkRunning(_ count: Int, _ recipient: String) throws(Refusal) {
        guard count >= configuration.limits.runningPerRecipientMax else { return }
        throw Self.full(
            "\(recipient) has \(count) running activities", "activities_per_user",
            "end those that are over")
    }

    /// Each card of a device is looked at with each of its requests, for a day after its end.
    func checkCards(of device: Int, more: Int) throws(Refusal) {
        let count = devices[device]?.destinations.count ?? 0
        guard more > 0, count + more > configuration.limits.cardsPerDeviceMax else { return }
        let id = devices[device]?.key.id
        throw Self.full(
            "the device \"\(id?.rawValue ?? "")\" has had \(count) cards, all that run or ended "
                + "within a day", "cards_per_device", "update an activity instead of starting anew")
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
        let cards = audienceByUser[key]?.count ?? 0
        try checkCards(more: cards)
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
