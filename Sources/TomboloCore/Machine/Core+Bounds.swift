// What may be kept at most: every refusal names its limit, before anything is stored.

/// Starts that are taken and not durable yet, by whom they are for.
struct ComingStarts: Sendable {
    var users: [Core.UserKey: Int] = [:]
    var devices: [DeviceKey: Int] = [:]

    /// A start is taken (1), or has become durable or is taken back (-1).
    mutating func add(_ count: Int, _ audience: Audience, of tenant: TenantID) {
        switch audience {
        case .none, .channel: break
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

extension Core {
    private static func full(_ what: String, _ limit: String, _ remedy: String) -> Refusal {
        Refusal(.limitReached, "\(what); \(remedy), or raise limits.\(limit) in the configuration")
    }

    /// Whom a start is for is there, and may have one more card.
    func checkAudience(_ start: Start, _ key: ActivityKey) throws(Refusal) {
        let tenant = key.tenant
        switch start.audience {
        case .none: break
        case .channel: try checkChannel(start, key)
        case .user(let user):
            let key = UserKey(tenant: tenant, user: user)
            let running = (audienceByUser[key]?.count ?? 0) + (coming.users[key] ?? 0)
            try checkRunning(running, "the user \"\(user)\"")
            for device in devicesByUser[key] ?? [] { try checkCards(of: device, more: 1) }
        case .devices(let ids):
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
        if let known { try checkCards(of: known, more: audienceByUser[key]?.count ?? 0) }
    }
}
