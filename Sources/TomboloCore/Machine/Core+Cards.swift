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
        var work = StepBudget().room
        var tenant: TenantID?
        var count = 0
        for command in commands {
            // What is refused anyway, or asks for what is so already, needs no room.
            guard case .start(let start) = command.content,
                activities.slot(of: command.activity).map({ activities[$0].hasEnded }) ?? true,
                !keys.rates.isSpent(command.key, configuration.limits, now: now)
            else { continue }
            tenant = command.activity.tenant
            count += devices.cards(of: start.audience, command.activity.tenant)
            makeRoomOnDevices(of: start.audience, command.activity.tenant, now: now, &work)
        }
        if let tenant { makeRoomForTenant(tenant, cards: count, now: now, &work) }
    }

    /// Makes room for the cards of a device's command in the same way.
    mutating func makeRoom(for command: DeviceCommand, _ key: DeviceKey, now: Instant) {
        var work = StepBudget().room
        let device = devices.slot(of: key)
        switch command {
        case .register(let registration):
            guard let user = registration.user,
                device.flatMap({ devices[$0]?.registration.user }) != user
            else { return }
            let count = audiences.running(of: UserKey(tenant: key.tenant, user: user))
            makeRoomForTenant(key.tenant, cards: count, now: now, &work)
            if let device { makeRoomOnDevice(device, cards: count, now: now, &work) }
        case .putToken, .putTokens:
            guard let device else { return }
            let count = command.tokenNames.count { name in
                guard case .activity = name else { return false }
                return devices[device]?.tokens[name] == nil
            }
            makeRoomOnDevice(device, cards: count, now: now, &work)
        case .delete, .deleteToken, .presence, .report, .action: break
        }
    }

    private mutating func makeRoomOnDevices(
        of audience: Audience, _ tenant: TenantID, now: Instant, _ work: inout StepBudget.Part
    ) {
        switch audience {
        case .none, .channel: break
        case .user(let user):
            for device in devices.slots(of: UserKey(tenant: tenant, user: user)) {
                makeRoomOnDevice(device, cards: 1, now: now, &work)
            }
        case .devices(let ids):
            for id in ids {
                guard let device = devices.slot(of: DeviceKey(tenant: tenant, id: id)) else {
                    continue
                }
                makeRoomOnDevice(device, cards: 1, now: now, &work)
            }
        }
    }

    /// Retires the oldest ended activities of a device until it has room for `more` cards, and at
    /// most `overPerDeviceMax` cards that are over.
    private mutating func makeRoomOnDevice(
        _ device: DeviceSlot, cards more: Int, now: Instant, _ work: inout StepBudget.Part
    ) {
        let limits = configuration.limits
        let count = devices[device]?.destinations.count ?? 0
        guard more > 0, count > min(limits.cardsPerDeviceMax - more, limits.overPerDeviceMax) else {
            return
        }
        let running = devices.user(of: device).map { audiences.running(of: $0) } ?? 0
        let max = min(
            limits.cardsPerDeviceMax - more,
            running + (devices[device]?.audience.count ?? 0) + limits.overPerDeviceMax)
        for slot in devices[device]?.destinations ?? [] where !work.isSpent {
            guard devices[device]?.destinations.count ?? 0 > max else { return }
            work.take(StepBudget.Cost.place)
            // Skip cards that an activity retired in this loop has removed.
            guard destinations.holds(slot), destinations[slot].device == device else { continue }
            retireEarly(destinations[slot].activity, now: now, &work)
        }
    }

    /// Retires the oldest ended activities until there is room for `more` cards: those of the
    /// tenant if its own limit is reached, else those of all tenants.
    private mutating func makeRoomForTenant(
        _ tenant: TenantID, cards more: Int, now: Instant, _ work: inout StepBudget.Part
    ) {
        while !work.isSpent,
            let limit = audiences.exceeded(more, of: tenant, configuration.limits)
        {
            work.take(StepBudget.Cost.look)
            switch limit {
            case .ofTenant:
                guard let slot = activities.nextEnded(of: tenant) else { return }
                if !retireEarly(slot, now: now, &work) { activities.keepEnded(slot) }
            case .ofAll: guard retireOldest(now: now, &work) else { return }
            }
        }
    }
}
