// Update tokens of unknown activities, and cards that have outlived their activities.

extension Core {
    /// Handles an update token that belongs to no destination. If its activity has ended or has a
    /// newer incarnation, or its user does not have the device any more, the card is ended. If the
    /// device was registered again and has two cards, this card gets updates beside the other. If
    /// the activity is unknown, the token is kept for a while.
    mutating func takeOrphan(
        _ reference: ActivityReference, of device: DeviceSlot, now: Instant
    ) {
        devices.orphanDeadlines.set(
            device,
            at: Instant.earlier(
                devices.orphanDeadlines.at(device), now + configuration.limits.orphanToken))
        guard let owner = devices[device], let token = owner.tokens[.activity(reference)],
            let activity = activities.slot(
                of: ActivityKey(tenant: owner.key.tenant, id: reference.id)),
            let durable = activities[activity].durable,
            reference.incarnation <= activities[activity].durableIncarnation
        else { return }
        let isLeft = isLeftBehind(reference, on: owner, activity)
        let isOver =
            durable.ending != nil || reference.incarnation < activities[activity].durableIncarnation
        guard !devices.isFull(device, configuration.limits) else { return }
        guard isLeft || isOver else {
            takeForgotten(token, reference, of: device, activity, now: now)
            return
        }
        let final =
            isLeft
            ? Projection.bareEnd(version: durable.version, at: wall(now))
            : farewell(to: device, activity, durable, of: reference.incarnation, now: now)
        let slot = addCard(token, reference, of: device, activity, now: now)
        if let slot {
            destinations[slot].final = final
            // The card began before its device was deleted; the history already has that fact.
            if isLeft { destinations[slot].story = .began }
            // The deleted device may still have a destination for this card. That one is gone now,
            // because the new destination ends the card.
            for other in devices.leaving where devices[other]?.key == owner.key {
                for card in devices[other]?.destinations ?? []
                where self.reference(destinations[card]) == reference {
                    enter(.gone, card, now: now)
                }
            }
            destinations.wakeFirst(slot)
        }
    }

    /// Adds a destination for a card of which only the token is known; nil if the device's app is
    /// not configured any more. The caller sets its final state and history, and then calls
    /// `wakeFirst` for it.
    private mutating func addCard(
        _ token: Device.Token, _ reference: ActivityReference, of device: DeviceSlot,
        _ activity: ActivitySlot,
        now: Instant
    ) -> CardSlot? {
        guard let owner = devices[device], let version = activities[activity].durable?.version,
            let upstream = configuration.upstream(of: owner)
        else { return nil }
        var destination = Destination(
            number: destinations.takeNumber(), activity: activity, device: device,
            incarnation: reference.incarnation, renewal: reference.renewal, upstream: upstream,
            ledger: Ledger(since: version), phaseSince: now)
        destination.token = token.value
        destination[.tokenIsNew] = !token.isOnRecord
        destination.cardSince = now
        destination.alertsThrough = version
        destination.phase = .live
        let slot = insert(destination)
        recallCard(slot, now: now)
        journal.checkpoint(slot)
        journal.flushSoon(now: now)
        return slot
    }

    /// Continues an older card of a running activity after its device was deleted and registered
    /// again. The card gets updates until pushes can reach the newer card, and then ends.
    private mutating func takeForgotten(
        _ token: Device.Token, _ reference: ActivityReference, of device: DeviceSlot,
        _ activity: ActivitySlot,
        now: Instant
    ) {
        guard let durable = activities[activity].durable, isInAudience(device, of: activity),
            let card = forgottenCard(reference, of: device, activity)
        else { return }
        let known = (devices[device]?.destinations ?? []).filter { index in
            destinations.at(index).map {
                $0.activity == activity && $0.incarnation == reference.incarnation
            } ?? false
        }
        guard !known.isEmpty,
            let slot = addCard(token, reference, of: device, activity, now: now)
        else { return }
        destinations[slot].cardSince = card.since ?? now
        destinations[slot][.wasDismissed] = card.wasDismissed
        let isReplaced = known.contains { destinations[$0].renewal > reference.renewal + 1 }
        if card.phase == .ended || isReplaced {
            destinations[slot].final = farewell(
                to: device, activity, durable, of: reference.incarnation, now: now)
        }
        endPredecessor(of: slot, now: now)
        for index in known where destinations[index].phase == .live {
            endPredecessor(of: index, now: now)
        }
        destinations.wakeFirst(slot)
        for index in known { destinations.wakeFirst(index) }
    }

    /// True if the card belongs to a user who does not have the device any more. Its end was lost
    /// when the device was deleted.
    private func isLeftBehind(
        _ reference: ActivityReference, on device: Device, _ activity: ActivitySlot
    ) -> Bool {
        guard !startHistories.isEmpty, let history = startHistories[.device(device.key)] else {
            return false
        }
        let number = activities[activity].number
        // The user may have returned and have a newer card, so look at exactly this one first.
        let own = history.exactCard(of: number, reference.incarnation, reference.renewal)
        if own?.wasLeft == true { return true }
        guard let card = history.lastCard(of: number, reference.incarnation),
            reference.renewal <= card.renewal
        else { return false }
        guard !card.wasLeft, case .user(let user) = activities[activity].durableDefinition.audience
        else { return card.wasLeft }
        return !isSameText(device.registration.user, user)
    }

    /// The final state for a card that has outlived its activity, or its life of it: never the
    /// state of another life. Any device can send a token, so only devices of the audience get the
    /// state; other cards only disappear.
    func farewell(
        to device: DeviceSlot, _ activity: ActivitySlot, _ durable: Projection,
        of incarnation: Int64, now: Instant
    ) -> Projection {
        let bare = Projection.bareEnd(version: durable.version, at: wall(now))
        guard incarnation == activities[activity].durableIncarnation else {
            let life = activities[activity].lives?.last { $0.incarnation == incarnation }
            guard let life, isInAudience(device, of: activity, in: life) else { return bare }
            return life.last.ended(version: durable.version, at: wall(now))
        }
        guard isInAudience(device, of: activity) else { return bare }
        return durable.ended(version: durable.version, at: wall(now))
    }

    /// Drops update tokens that are older than `orphanToken`, and that belong to no destination and
    /// no running activity. Sets the time of the next sweep.
    mutating func sweepOrphans(of device: DeviceSlot, now: Instant) {
        guard let owner = devices[device] else { return }
        noteWork(onDevice: device)
        let used = Set(owner.destinations.compactMap { destinations.at($0).map { reference($0) } })
        var next: Instant?
        for (name, token) in owner.tokens.all {
            guard case .activity(let reference) = name, !used.contains(reference) else { continue }
            let key = ActivityKey(tenant: owner.key.tenant, id: reference.id)
            if let slot = activities.slot(of: key), !activities[slot].hasEnded { continue }
            let begin = clock.shownAt(token.registeredAt, now: now)
            let end = begin + configuration.limits.orphanToken
            if end > now {
                next = Instant.earlier(next, end)
            } else {
                setToken(name, nil, of: device, now: now)
            }
        }
        if devices[device]?.tokens.count != owner.tokens.count { writeDevice(device) }
        devices.orphanDeadlines.set(device, at: next)
    }

    /// Sweeps the devices that have update tokens, after a restart.
    mutating func recoverOrphans(now: Instant) {
        for slot in devices.indices {
            let waits = devices[slot]?.tokens.names.contains { name in
                if case .activity = name { true } else { false }
            }
            if waits == true { sweepOrphans(of: slot, now: now) }
        }
    }

    /// Drops a device's tokens of an activity that leaves memory: nothing is left to send to its
    /// cards.
    mutating func dropTokens(of activity: ActivitySlot, on device: DeviceSlot, now: Instant) {
        let key = activities[activity].key
        let incarnation = activities[activity].incarnation
        let names = (devices[device]?.tokens.names ?? []).filter { name in
            guard case .activity(let reference) = name else { return false }
            return reference.id == key.id && reference.incarnation <= incarnation
        }
        guard !names.isEmpty else { return }
        for name in names { setToken(name, nil, of: device, now: now) }
        writeDevice(device)
    }
}
