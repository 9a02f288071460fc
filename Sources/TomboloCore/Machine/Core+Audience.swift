// Connects activities with devices. Either may come first.

extension Core {
    /// Adds destinations for a started activity, and lets devices that register later find the
    /// activity.
    ///
    /// - Parameter isRecovered: true if the activity started before this relay did.
    mutating func enterAudience(
        _ slot: ActivitySlot, isRecovered: Bool = false, now: Instant
    ) {
        // The audience names each device once.
        let hasCards = !activities[slot].destinations.isEmpty
        func addCard(_ device: DeviceSlot) {
            addDestination(
                slot, device, mayHaveCard: hasCards, isRecovered: isRecovered, now: now)
        }
        let tenant = activities[slot].key.tenant
        switch activities[slot].durableDefinition.audience {
        case .none: break
        case .devices(let ids):
            activities[slot].destinations.reserveCapacity(ids.count)
            for id in ids {
                let key = DeviceKey(tenant: tenant, id: id)
                join(slot, key)
                if let device = devices.slot(of: key) { addCard(device) }
            }
        case .user(let user):
            let key = UserKey(tenant: tenant, user: user)
            audiences.join(slot, key)
            for device in devices.slots(of: key) { addCard(device) }
        case .channel(let name):
            let key = ChannelKey(tenant: tenant, name: name)
            if let channel = channels.slot(of: key) { addCard(channel) }
        }
    }

    /// Removes an ended activity from the lists in which new devices find it.
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

    /// Lists a running activity at a device that it names, registered or not.
    mutating func join(_ slot: ActivitySlot, _ key: DeviceKey) {
        if let device = devices.slot(of: key) {
            devices[known: device].audience.append(slot)
        } else {
            audiences.join(slot, key)
        }
    }

    /// Undoes `join`.
    private mutating func part(_ slot: ActivitySlot, _ key: DeviceKey) {
        if let device = devices.slot(of: key) {
            devices[known: device].audience.remove(slot)
        } else {
            audiences.leave(slot, key)
        }
    }

    /// The running activities whose audience contains the device.
    func audience(of device: DeviceSlot) -> [ActivitySlot] {
        guard let device = devices[device] else { return [] }
        let named = Array(device.audience)
        guard let user = device.registration.user else { return named }
        return named + audiences.activities(of: UserKey(tenant: device.key.tenant, user: user))
    }

    /// True if the device has the activity's app and is in its audience now. The activity may have
    /// ended.
    ///
    /// - Parameter life: an earlier life of the activity; nil: the present one.
    func isInAudience(
        _ device: DeviceSlot, of activity: ActivitySlot, in life: EarlierLife? = nil
    ) -> Bool {
        let definition = activities[activity].durableDefinition
        guard let owner = devices[device],
            let upstream = configuration.upstream(of: owner),
            configuration[upstream].id == life?.app ?? definition.app
        else { return false }
        return switch life?.audience ?? definition.audience {
        case .none, .channel: false
        case .devices(let ids): ids.contains(owner.key.id)
        case .user(let user): isSameText(owner.registration.user, user)
        }
    }

    /// True if the activity exists and the device is in its audience now.
    func isFor(_ key: DeviceKey, _ reference: ActivityReference) -> Bool {
        guard let device = devices.slot(of: key),
            let activity = activities.slot(of: ActivityKey(tenant: key.tenant, id: reference.id))
        else { return false }
        return isInAudience(device, of: activity)
    }

    /// Adds a destination if activity and device have the same app and the device has room for a
    /// card. The caller examines the new destination.
    ///
    /// - Parameters:
    ///   - mayHaveCard: false if the activity has no card on the device.
    ///   - isRecovered: true if the start was to go before this relay started: its wait goes on,
    ///     and does not begin again.
    mutating func addDestination(
        _ activity: ActivitySlot, _ device: DeviceSlot, mayHaveCard: Bool = true,
        isRecovered: Bool = false, now: Instant
    ) {
        let incarnation = activities[activity].durableIncarnation
        let definition = activities[activity].durableDefinition
        guard let owner = devices[device],
            let upstream = configuration.upstream(of: owner),
            configuration[upstream].id == definition.app,
            let renewal = nextCard(of: activity, on: device, mayBeThere: mayHaveCard),
            !devices.isFull(device, configuration.limits)
        else { return }
        var destination = Destination(
            number: destinations.takeNumber(), activity: activity, device: device,
            incarnation: incarnation, renewal: renewal, upstream: upstream,
            ledger: Ledger(since: activities[activity].durable?.version ?? 1), phaseSince: now)
        destination.startWaitsSince =
            isRecovered ? max(definition.startedAt, owner.joinedAt) : wall(now)
        // If the app has already sent an update token, it has started the card itself.
        let reference = reference(destination)
        if let channel = owner.channel {
            destination.token = channel.isGone ? nil : PushToken(channel.id)
            // Apple may have answered since the start was accepted that it does not know the
            // channel.
            destination.phase = channel.isGone ? .gone : .live
            destination.pacing = pacing(on: owner)
        } else if let token = owner.tokens[.activity(reference)],
            definition.route.mayAdopt
        {
            destination.token = token.value
            destination[.tokenIsNew] = !token.isOnRecord
            destination.cardSince = clock.shownAt(token.registeredAt, now: now)
            destination.phase = .live
        }
        let slot = insert(destination)
        recallCard(slot, now: now)
        journal.checkpoint(slot)
        journal.flushSoon(now: now)
    }

    /// The card's number for a new destination; nil if the device has a card already.
    ///
    /// It is higher than that of each card that this device, or the phone with its start token, is
    /// known to have had: the device may have been deleted and registered again, and the phone may
    /// still show that card. Only a card that cannot tell its name to the app keeps its number,
    /// unless it was another user's.
    private func nextCard(
        of activity: ActivitySlot, on device: DeviceSlot, mayBeThere: Bool
    ) -> Int64? {
        var next: Int64 = 0
        // Search the shorter list: that of the device or that of the activity.
        let (own, all) = (
            devices[device]?.destinations ?? [], activities[activity].destinations
        )
        for slot in !mayBeThere ? [] : own.count < all.count ? own : all {
            guard destinations.holds(slot), destinations[slot].activity == activity,
                destinations[slot].device == device,
                destinations[slot].incarnation == activities[activity].durableIncarnation
            else { continue }
            guard destinations[slot].hasBareEnd else { return nil }
            next = max(next, destinations[slot].renewal + 1)
        }
        let definition = activities[activity].definition
        let tellsName = definition.route != .adopt && idPointer(activities[activity]) != nil
        for history in histories(of: device, type: definition.type) {
            for card in history.cards
            where card.activity == activities[activity].number.rawValue
                && card.incarnation == activities[activity].durableIncarnation
                && card.phase != .waiting && (tellsName || card.wasLeft)
            {
                next = max(next, card.renewal + 1)
            }
        }
        return next
    }

    /// Ends the former user's cards after a device got another user. These ends have no content,
    /// and replace an end of the activity that was not sent yet. Each end must be durable before it
    /// is sent, because the next relay must know whose card it was.
    ///
    /// The audience of an earlier incarnation is not known any more: after a change of the user,
    /// its cards end in the same way.
    ///
    /// - Parameter isDeleted: true if the device is deleted: then all cards that pushes can reach
    ///   end.
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
            destinations[slot][.awaitsSuccession] = true
            destinations[slot][.checkpointIsDirty] = true
            journal.checkpoint(slot)
            journal.awaitSuccession(slot, destination.number)
        }
    }

    /// True if the activity is for a user, and the device has another user now.
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
        activities.countCard(1, of: destination.activity)
        activities[destination.activity].destinations.append(slot)
        devices[known: destination.device].destinations.append(slot)
        return slot
    }

    mutating func removeDestination(_ slot: CardSlot) {
        guard let destination = destinations.at(slot) else { return }
        let tenant = activities[destination.activity].key.tenant
        setHoldsStartToken(slot, false)
        journal.erase(.checkpoint, destination.number)
        audiences.addCards(-1, of: tenant)
        activities.countCard(-1, of: destination.activity)
        activities[destination.activity].destinations.remove(slot)
        leavePlace(slot)
        destinations.remove(slot, of: tenant)
    }
}
