// Limits of cards, and how ended activities make room for new ones.

extension Core {
    /// Number of devices in a started activity's audience that get no card, because they are full.
    ///
    /// - Parameter count: number of devices that have one.
    func leftOut(_ slot: ActivitySlot, besides count: Int) -> Int {
        let (audience, tenant) = (
            activities[slot].durableDefinition.audience, activities[slot].key.tenant
        )
        guard devices.cards(of: audience, tenant) > count else { return 0 }
        let full = self.audience(of: activities[slot].durableDefinition, tenant).filter {
            devices.isFull($0, configuration.limits)
        }
        guard !full.isEmpty else { return 0 }
        let reached = Set(activities[slot].destinations.map { destinations[$0].device })
        return full.count { !reached.contains($0) }
    }

    // MARK: Room

    /// Makes room for the cards of starts: if necessary, ended activities leave memory early.
    mutating func makeRoom(for commands: some Sequence<Command>, now: Instant) {
        var tenant: TenantID?
        var count = 0
        for command in commands {
            guard case .start(let start) = command.content else { continue }
            tenant = command.activity.tenant
            count += devices.cards(of: start.audience, command.activity.tenant)
            makeRoomOnDevices(of: start.audience, command.activity.tenant, now: now)
        }
        if let tenant { makeRoomForTenant(tenant, cards: count, now: now) }
    }

    /// Makes room for the cards of a device's command in the same way.
    mutating func makeRoom(for command: DeviceCommand, _ key: DeviceKey, now: Instant) {
        let device = devices.slot(of: key)
        switch command {
        case .register(let registration):
            guard let user = registration.user,
                device.flatMap({ devices[$0]?.registration.user }) != user
            else { return }
            let count = audiences.running(of: UserKey(tenant: key.tenant, user: user))
            makeRoomForTenant(key.tenant, cards: count, now: now)
            if let device { makeRoomOnDevice(device, cards: count, now: now) }
        case .putToken(let name, _): makeRoomForTokens([name], device, now: now)
        case .putTokens(let set): makeRoomForTokens(set.tokens.map(\.name), device, now: now)
        case .delete, .deleteToken, .presence, .report, .action: break
        }
    }

    /// Makes room for tokens that may belong to new cards.
    private mutating func makeRoomForTokens(
        _ names: [TokenName], _ device: DeviceSlot?, now: Instant
    ) {
        guard let device else { return }
        let count = names.count { name in
            guard case .activity = name else { return false }
            return devices[device]?.tokens[name] == nil
        }
        makeRoomOnDevice(device, cards: count, now: now)
    }

    private mutating func makeRoomOnDevices(
        of audience: Audience, _ tenant: TenantID, now: Instant
    ) {
        switch audience {
        case .none, .channel: break
        case .user(let user):
            for device in devices.slots(of: UserKey(tenant: tenant, user: user)) {
                makeRoomOnDevice(device, cards: 1, now: now)
            }
        case .devices(let ids):
            for id in ids {
                guard let device = devices.slot(of: DeviceKey(tenant: tenant, id: id)) else {
                    continue
                }
                makeRoomOnDevice(device, cards: 1, now: now)
            }
        }
    }

    /// Retires ended activities of a device until it has room for `more` cards.
    private mutating func makeRoomOnDevice(_ device: DeviceSlot, cards more: Int, now: Instant) {
        let max = configuration.limits.cardsPerDeviceMax
        guard more > 0, (devices[device]?.destinations.count ?? 0) + more > max else { return }
        for slot in devices[device]?.destinations ?? [] {
            guard (devices[device]?.destinations.count ?? 0) + more > max else { return }
            // Skip cards that an activity retired in this loop has removed.
            guard destinations.holds(slot), destinations[slot].device == device else { continue }
            retireEarly(destinations[slot].activity, now: now)
        }
    }

    /// Retires the oldest ended activities until there is room for `more` cards: those of the
    /// tenant if its own limit is reached, else those of all tenants.
    private mutating func makeRoomForTenant(_ tenant: TenantID, cards more: Int, now: Instant) {
        var looked = 0
        while looked < Self.lookedAtMax,
            let limit = audiences.exceeded(more, of: tenant, configuration.limits)
        {
            looked += 1
            switch limit {
            case .ofTenant:
                guard let slot = activities.nextEnded(of: tenant) else { return }
                if !retireEarly(slot, now: now) { activities.keepEnded(slot) }
            case .ofAll: guard retireOldest(now: now) else { return }
            }
        }
    }

    /// Maximum number of ended activities that are examined for one start.
    private static let lookedAtMax = 256
}
