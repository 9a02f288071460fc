// Connects activities and devices, whichever comes first.

extension Core {
    /// Connects a started activity with its devices; later devices find it, too.
    mutating func enterAudience(_ slot: ActivitySlot, now: Instant) {
        let tenant = activities[slot].key.tenant
        switch activities[slot].durableDefinition.audience {
        case .none: break
        case .devices(let ids):
            activities[slot].destinations.reserveCapacity(ids.count)
            for id in ids {
                let key = DeviceKey(tenant: tenant, id: id)
                join(slot, key)
                if let device = devices.slot(of: key) { addDestination(slot, device, now: now) }
            }
        case .user(let user):
            let key = UserKey(tenant: tenant, user: user)
            audiences.join(slot, key)
            for device in devices.slots(of: key) { addDestination(slot, device, now: now) }
        case .channel(let name):
            let key = ChannelKey(tenant: tenant, name: name)
            if let channel = channels.slot(of: key) { addDestination(slot, channel, now: now) }
        }
    }

    /// Stops an ended activity from reaching new devices.
    mutating func leaveAudience(_ slot: ActivitySlot) {
        let tenant = activities[slot].key.tenant
        switch activities[slot].durableDefinition.audience {
        case .none, .channel: break
        case .devices(let ids):
            for id in ids { part(slot, DeviceKey(tenant: tenant, id: id)) }
        case .user(let user):
            audiences.leave(slot, UserKey(tenant: tenant, user: user))
        }
    }

    /// Adds a running activity to a device that it names, registered or not.
    mutating func join(_ slot: ActivitySlot, _ key: DeviceKey) {
        if let device = devices.slot(of: key) {
            devices[known: device].audience.append(slot)
        } else {
            audiences.join(slot, key)
        }
    }

    /// Removes the activity from the device again.
    private mutating func part(_ slot: ActivitySlot, _ key: DeviceKey) {
        if let device = devices.slot(of: key) {
            devices[known: device].audience.remove(slot)
        } else {
            audiences.leave(slot, key)
        }
    }

    /// The running activities of a device.
    func audience(of device: DeviceSlot) -> [ActivitySlot] {
        guard let device = devices[device] else { return [] }
        let named = Array(device.audience)
        guard let user = device.registration.user else { return named }
        return named + audiences.activities(of: UserKey(tenant: device.key.tenant, user: user))
    }

    /// True if an activity, running or ended, is for a device, by their present values.
    func isInAudience(_ device: DeviceSlot, of activity: ActivitySlot) -> Bool {
        let definition = activities[activity].durableDefinition
        guard let owner = devices[device],
            let upstream = configuration.upstream(of: owner),
            configuration[upstream].id == definition.app
        else { return false }
        return switch definition.audience {
        case .none, .channel: false
        case .devices(let ids): ids.contains(owner.key.id)
        case .user(let user): isSameText(owner.registration.user, user)
        }
    }

    /// True if the activity exists and is for the device.
    func isFor(_ key: DeviceKey, _ reference: ActivityReference) -> Bool {
        guard let device = devices.slot(of: key),
            let activity = activities.slot(of: ActivityKey(tenant: key.tenant, id: reference.id))
        else { return false }
        return isInAudience(device, of: activity)
    }

    /// Adds a destination if activity and device have the same app. The caller evaluates it.
    mutating func addDestination(_ activity: ActivitySlot, _ device: DeviceSlot, now: Instant) {
        let incarnation = activities[activity].durableIncarnation
        let definition = activities[activity].durableDefinition
        guard let owner = devices[device],
            let upstream = configuration.upstream(of: owner),
            configuration[upstream].id == definition.app,
            let renewal = nextCard(of: activity, on: device),
            !devices.isFull(device, configuration.limits)
        else { return }
        var destination = Destination(
            number: destinations.takeNumber(), activity: activity, device: device,
            incarnation: incarnation, renewal: renewal, upstream: upstream,
            ledger: Ledger(since: activities[activity].durable?.version ?? 1), phaseSince: now)
        destination.startWaitsSince = wall(now)
        // If the app has sent an update token already, it has started the card itself.
        let reference = reference(destination)
        if let channel = owner.channel {
            destination.token = channel.isGone ? nil : PushToken(channel.id)
            // Apple may have declared the channel unknown since the activity was accepted.
            destination.phase = channel.isGone ? .gone : .live
            destination.pacing = pacing(on: owner)
        } else if let token = owner.tokens[.activity(reference)],
            definition.route.mayAdopt
        {
            destination.token = token.value
            destination.tokenIsNew = !token.isOnRecord
            destination.cardSince = token.registeredAt
            destination.phase = .live
        }
        let slot = insert(destination)
        recallCard(slot, now: now)
        journal.checkpoint(slot)
        journal.flushSoon(now: now)
    }

    /// The card number of a new destination; nil if the device has a card already. A user who
    /// returns to a device gets a new card, because the first one has ended there.
    private func nextCard(of activity: ActivitySlot, on device: DeviceSlot) -> Int64? {
        var next: Int64 = 0
        // Search the shorter one of the device's and the activity's list.
        let (own, all) = (
            devices[device]?.destinations ?? [], activities[activity].destinations
        )
        for slot in own.count < all.count ? own : all {
            guard destinations.holds(slot), destinations[slot].activity == activity,
                destinations[slot].device == device,
                destinations[slot].incarnation == activities[activity].durableIncarnation
            else { continue }
            guard destinations[slot].hasBareEnd else { return nil }
            next = max(next, destinations[slot].renewal + 1)
        }
        // The device may have been deleted and registered again.
        let incarnation = activities[activity].durableIncarnation
        if !startHistories.isEmpty, let key = devices[device]?.key,
            let history = startHistories[.device(key)]
        {
            let number = activities[activity].number
            if let card = history.lastCard(of: number, incarnation), card.wasLeft {
                next = max(next, card.renewal + 1)
            }
            // Another installation of the app may have had a newer card.
            while history.exactCard(of: number, incarnation, next)?.wasLeft == true { next += 1 }
        }
        return next
    }

    /// Ends the former user's cards after a device got another user: without content, even if the
    /// end of an activity is still on its way. Each end waits until it is durable, because the next
    /// relay must know whose card it was.
    ///
    /// The audience of an earlier incarnation is not known any more: if the user is another one
    /// now, its cards end without content, too.
    ///
    /// - Parameter isDeleted: true if the device is deleted: then all cards with a route end.
    mutating func leaveCards(
        on device: DeviceSlot, hasOtherUser: Bool, isDeleted: Bool = false, now: Instant
    ) {
        for slot in devices[device]?.destinations ?? [] {
            guard let destination = destinations.at(slot), !destination.hasBareEnd,
                isDeleted && destination.hasRouteToEnd || isOfAnotherUser(destination)
                    || hasOtherUser
                        && destination.incarnation
                            < activities[destination.activity].durableIncarnation,
                let version = projection(slot)?.version
            else { continue }
            decideRest(slot, .noRoute, now: now)
            loseAlerts(slot, now: now)
            let end = Projection.bareEnd(version: version, at: wall(now))
            // Reports about the state at this version do not apply to the end.
            destinations[slot].echo = Echo()
            destinations[slot].final = end
            destinations[slot].awaitsSuccession = true
            destinations[slot].markIsDirty = true
            journal.checkpoint(slot)
            journal.awaitSuccession(slot, destination.number)
        }
    }

    /// True if the activity is for a user, and its device has another user now.
    func isOfAnotherUser(_ destination: Destination) -> Bool {
        guard case .user(let user) = activities[destination.activity].durableDefinition.audience,
            let device = devices[destination.device], device.channel == nil
        else { return false }
        return !isSameText(device.registration.user, user)
    }

    mutating func insert(_ destination: Destination) -> CardSlot {
        let tenant = activities[destination.activity].key.tenant
        let slot = destinations.insert(destination, of: tenant)
        audiences.addCards(1, of: tenant)
        activities[destination.activity].destinations.append(slot)
        devices[known: destination.device].destinations.append(slot)
        return slot
    }

    mutating func removeDestination(_ slot: CardSlot) {
        guard let destination = destinations.at(slot) else { return }
        let tenant = activities[destination.activity].key.tenant
        setHoldsStartToken(slot, false)
        journal.erase(.mark, destination.number)
        audiences.addCards(-1, of: tenant)
        activities[destination.activity].destinations.remove(slot)
        leavePlace(slot)
        destinations.remove(slot, of: tenant)
    }
}
