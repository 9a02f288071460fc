// How many cards there may be, and how those that are over make room.

extension Core {
    /// How many cards, and names of devices that are not registered, a start is for.
    func cards(of audience: Audience, _ tenant: TenantID) -> Int {
        switch audience {
        case .none: 0
        case .channel: 1
        case .devices(let ids): ids.count
        case .user(let user): devicesByUser[UserKey(tenant: tenant, user: user)]?.count ?? 0
        }
    }

    /// A start is taken (1), or has become durable or is taken back (-1).
    mutating func noteComing(_ count: Int, _ audience: Audience, of tenant: TenantID) {
        coming.add(count, audience, of: tenant)
        coming.addCards(count * cards(of: audience, tenant), of: tenant)
    }

    /// Activities for a user that run, and starts that are on their way.
    func running(forUser key: UserKey) -> Int {
        (audienceByUser[key]?.count ?? 0) + (coming.users[key] ?? 0)
    }

    /// A card less, or one more; or a name of a device that is not registered.
    mutating func addCards(_ count: Int, ofActivity slot: Int) {
        population.addCards(count, of: activities[slot].key.tenant)
    }

    // MARK: Refusals

    private enum CardLimit { case ofTenant, ofAll }

    private func exceeded(_ more: Int, of tenant: TenantID) -> CardLimit? {
        let limits = configuration.limits
        guard more > 0 else { return nil }
        if population.cards[tenant] + coming.cards[tenant] + more > limits.cardsPerTenantMax {
            return .ofTenant
        }
        return population.cards.inAll + coming.cards.inAll + more > limits.cardsMax ? .ofAll : nil
    }

    /// Of all devices.
    func checkCards(more: Int, of tenant: TenantID) throws(Refusal) {
        let remedy =
            "end activities that run (POST /v1/activities/end): their cards count until the "
            + "phones have heard of the end"
        switch exceeded(more, of: tenant) {
        case nil: return
        case .ofTenant?:
            let count = population.cards[tenant] + coming.cards[tenant]
            throw Self.full(
                "there are \(count) cards on devices, and \(more) more would be too many",
                "cards_per_tenant", remedy)
        case .ofAll?:
            throw Self.full(
                "the relay has as many cards on devices as it keeps", "cards", remedy)
        }
    }

    /// Each card of a device is looked at with each of its requests.
    func checkCards(of device: Int, more: Int) throws(Refusal) {
        let count = devices[device]?.destinations.count ?? 0
        guard more > 0, count + more > configuration.limits.cardsPerDeviceMax else { return }
        let id = devices[device]?.key.id
        throw Self.full(
            "the device \"\(id?.rawValue ?? "")\" has \(count) cards that run, or whose end it has "
                + "not heard of", "cards_per_device",
            "update an activity instead of starting anew")
    }

    /// Whether a device has all the cards that it may have; a channel has one at a time.
    func isFull(_ device: Int) -> Bool {
        devices[device]?.destinations.count ?? 0 >= configuration.limits.cardsPerDeviceMax
            && devices[device]?.channel == nil
    }

    /// Devices of a started activity, besides so many that it reaches, that have no room for its
    /// card.
    func leftOut(_ slot: Int, besides count: Int) -> Int {
        let (audience, tenant) = (
            activities[slot].durableDefinition.audience, activities[slot].key.tenant
        )
        guard cards(of: audience, tenant) > count else { return 0 }
        let full = self.audience(of: activities[slot].durableDefinition, tenant).filter(isFull)
        guard !full.isEmpty else { return 0 }
        let reached = Set(activities[slot].destinations.map { destinations[$0].device })
        return full.count { !reached.contains($0) }
    }

    // MARK: Room

    /// With starts in one piece: what has ended leaves early where their cards have no room.
    mutating func makeRoom(for commands: some Sequence<Command>, now: Instant) {
        var tenant: TenantID?
        var count = 0
        for command in commands {
            guard case .start(let start) = command.content else { continue }
            tenant = command.activity.tenant
            count += cards(of: start.audience, command.activity.tenant)
            makeRoom(onDevicesOf: start.audience, command.activity.tenant, now: now)
        }
        if let tenant { makeRoom(count, of: tenant, now: now) }
    }

    /// The same with what a device says.
    mutating func makeRoom(for command: DeviceCommand, _ key: DeviceKey, now: Instant) {
        let device = deviceByKey[key]
        switch command {
        case .register(let registration):
            guard let user = registration.user,
                device.flatMap({ devices[$0]?.registration.user }) != user
            else { return }
            let count = running(forUser: UserKey(tenant: key.tenant, user: user))
            makeRoom(count, of: key.tenant, now: now)
            if let device { makeRoom(count, on: device, now: now) }
        case .putToken(let name, _): makeRoom(for: [name], device, now: now)
        case .putTokens(let set): makeRoom(for: set.tokens.map(\.name), device, now: now)
        case .delete, .deleteToken, .presence, .report: break
        }
    }

    /// The token of a card that nobody knows of makes one.
    private mutating func makeRoom(for names: [TokenName], _ device: Int?, now: Instant) {
        guard let device else { return }
        let count = names.count { name in
            guard case .activity = name else { return false }
            return devices[device]?.tokens[name] == nil
        }
        makeRoom(count, on: device, now: now)
    }

    private mutating func makeRoom(
        onDevicesOf audience: Audience, _ tenant: TenantID, now: Instant
    ) {
        switch audience {
        case .none, .channel: break
        case .user(let user):
            for device in devicesByUser[UserKey(tenant: tenant, user: user)] ?? [] {
                makeRoom(1, on: device, now: now)
            }
        case .devices(let ids):
            for id in ids {
                guard let device = deviceByKey[DeviceKey(tenant: tenant, id: id)] else { continue }
                makeRoom(1, on: device, now: now)
            }
        }
    }

    /// The oldest ended activities of a device leave until it has room for so many cards.
    private mutating func makeRoom(_ more: Int, on device: Int, now: Instant) {
        let max = configuration.limits.cardsPerDeviceMax
        guard more > 0, (devices[device]?.destinations.count ?? 0) + more > max else { return }
        for slot in devices[device]?.destinations ?? [] {
            guard (devices[device]?.destinations.count ?? 0) + more > max else { return }
            // One that has left has taken its other cards along.
            guard destinations.holds(slot), destinations[slot].device == device else { continue }
            retireEarly(destinations[slot].activity, now: now)
        }
    }

    /// The oldest ended activities leave until there is room for so many cards: a tenant's own
    /// where its share is full, else those of all.
    private mutating func makeRoom(_ more: Int, of tenant: TenantID, now: Instant) {
        var looked = 0
        while looked < Self.lookedAtMax, let limit = exceeded(more, of: tenant) {
            looked += 1
            switch limit {
            case .ofTenant:
                guard let slot = nextEnded(of: tenant) else { return }
                if !retireEarly(slot, now: now), retirements.at(slot) != nil {
                    ended[tenant]?.append(slot, activities[slot].number)
                }
            case .ofAll: guard retireOldest(now: now) else { return }
            }
        }
    }

    /// So many ended activities are looked at for one start.
    private static let lookedAtMax = 256

    /// The tenant's oldest that has ended and is in memory; it is no longer in the queue.
    private mutating func nextEnded(of tenant: TenantID) -> Int? {
        while let next = ended[tenant]?.removeFirst() {
            if isWaitingToLeave(next) { return next.slot }
        }
        return nil
    }

    private func isWaitingToLeave(_ one: EndedQueue.Place) -> Bool {
        activities[one.slot].number == one.number && activities[one.slot].hasEnded
            && retirements.at(one.slot) != nil
    }

    /// Notes that an activity has ended; those that have left go from the queue.
    mutating func noteEnded(_ slot: Int) {
        let tenant = activities[slot].key.tenant
        ended[tenant, default: EndedQueue()].append(slot, activities[slot].number)
        guard var queue = ended[tenant], queue.count > 1_024 + 2 * retirements.count else { return }
        ended[tenant] = nil
        queue.keep { isWaitingToLeave($0) }
        ended[tenant] = queue
    }
}

/// Ended activities of a tenant, oldest first; some may have left or run again.
struct EndedQueue: Sendable {
    struct Place: Sendable {
        private var place: Int32
        var slot: Int { Int(place) }
        var number: ActivityNumber

        init(_ slot: Int, _ number: ActivityNumber) {
            place = Int32(slot)
            self.number = number
        }
    }

    private var places: [Place] = []
    private var head = 0

    var count: Int { places.count - head }

    mutating func append(_ slot: Int, _ number: ActivityNumber) {
        places.append(Place(slot, number))
    }

    mutating func removeFirst() -> Place? {
        guard head < places.count else { return nil }
        head += 1
        defer {
            if head > 1_024, head * 2 > places.count {
                places.removeFirst(head)
                head = 0
            }
        }
        return places[head - 1]
    }

    mutating func keep(where isKept: (Place) -> Bool) {
        places = places[head...].filter(isKept)
        head = 0
    }
}
