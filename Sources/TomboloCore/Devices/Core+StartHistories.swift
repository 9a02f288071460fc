// The history of a phone's starts is kept when its device or its start token is removed. If the
// phone comes back, it gets no second card and no new budget.

extension Core {
    /// Stores the history of a phone under its start token, when the token leaves the device.
    mutating func keepHistory(
        ofToken value: PushToken, type: String, _ slot: DeviceSlot, now: Instant
    ) {
        guard let device = devices[slot], let key = historyKey(of: value, device) else { return }
        let cards = device.destinations.compactMap { index -> StartHistory.Card? in
            guard let destination = destinations.at(index), destination.device == slot,
                isSameText(activities[destination.activity].definition.type, type)
            else { return nil }
            return card(of: destination, now: now)
        }
        keep(cards, of: slot, under: key, now: now)
    }

    /// Stores the history and the budgets of a device under its name, when it is deleted.
    mutating func keepHistory(ofDevice slot: DeviceSlot, now: Instant) {
        guard let device = devices[slot], device.channel == nil else { return }
        for (name, token) in device.tokens.all {
            if case .start(let type) = name {
                keepHistory(ofToken: token.value, type: type, slot, now: now)
            }
        }
        let cards = device.destinations.compactMap { index in
            destinations.at(index).flatMap { card(of: $0, now: now) }
        }
        keep(
            cards, surfaceBudgets(of: slot, now: now), of: slot, under: .device(device.key),
            now: now)
    }

    /// Moves the history of one card when its token moves to another device, which must be the same
    /// phone. The pushes that the phone has had then count for the other device.
    mutating func moveCard(
        _ reference: ActivityReference, from slot: DeviceSlot, to other: DeviceSlot, now: Instant
    ) {
        func find(on slot: DeviceSlot) -> CardSlot? {
            devices[slot]?.destinations.first {
                destinations.at($0).map({ self.reference($0) }) == reference
            }
        }
        guard let key = devices[other]?.key, let old = find(on: slot).flatMap(destinations.at),
            let card = card(of: old, now: now)
        else { return }
        keep([card], of: slot, under: .device(key), now: now)
        if let new = find(on: other) { recallSince(new, now: now) }
    }

    private mutating func keep(
        _ cards: [StartHistory.Card], _ surfaces: [TokenName: Instant] = [:], of slot: DeviceSlot,
        under key: StartHistory.Key, now: Instant
    ) {
        let spent = devices.budgets[slot]
        guard
            max(spent.starts.fullAt, spent.bucket.fullAt) > now || !cards.isEmpty
                || !surfaces.isEmpty
        else { return }
        var history: StartHistory
        if let known = startHistories[key] {
            history = known
        } else {
            let (made, gone) = startHistories.make(key, now: now)
            history = made
            journal.write(gone)
        }
        history.add(spent, cards, now: now)
        history.add(surfaces)
        journal.write(startHistories.keep(history))
        journal.flushSoon(now: now)
    }

    /// Erases all histories of a device, by name and by token, when its data is erased.
    mutating func forgetHistories(of device: DeviceKey) {
        journal.write(startHistories.remove(.device(device)))
        guard let known = devices.slot(of: device).flatMap({ devices[$0] }) else { return }
        for (_, token) in known.tokens.all {
            if let key = historyKey(of: token.value, known) {
                journal.write(startHistories.remove(key))
            }
        }
    }

    /// The history of a card that may be on the phone, or whose start was tried; else nil.
    private func card(of destination: Destination, now: Instant) -> StartHistory.Card? {
        guard
            destination.phase != .waiting || destination[.reservedStart]
                || !destination.pacing.taken.isEmpty
        else { return nil }
        return StartHistory.Card(
            activity: activities[destination.activity].number.rawValue,
            incarnation: destination.incarnation, renewal: destination.renewal,
            phase: destination[.reservedStart]
                ? .startUnknown : destination.final == nil ? destination.phase : .ended,
            since: destination.cardSince(tryingAt: now),
            alertsThrough: max(destination.alertsThrough, destination.reservedAlert ?? 0),
            lastTimestamp: destination.pacing.taken.counting(at: wall(now)),
            wasDismissed: destination[.wasDismissed],
            bucketFullAt: destination.pacing.bucket.fullAt, wasLeft: destination.hasBareEnd)
    }

    private func historyKey(of value: PushToken, _ device: Device) -> StartHistory.Key? {
        guard let place = configuration.tokenPlace(of: value, device) else { return nil }
        let app = configuration[place.upstream]
        var hash = StableHash()
        hash.combine(app.tenant.name.rawValue.utf8)
        hash.combine(app.id.utf8)
        hash.combine(app.environment.name.utf8)
        hash.combine(value.text.utf8)
        return .token(app.tenant, hash: hash.value)
    }

    // MARK: Restoring

    /// Restores the history of a phone whose start token is now at this device.
    mutating func recallStarts(of value: PushToken, type: String, _ slot: DeviceSlot, now: Instant)
    {
        guard !startHistories.isEmpty, let device = devices[slot],
            let key = historyKey(of: value, device), let history = startHistories[key]
        else { return }
        recallBudget(history, slot, now: now)
        for index in device.destinations { resume(index, history, type: type, now: now) }
    }

    /// Restores the history of a device that is registered again under its name.
    mutating func recallStarts(ofDevice slot: DeviceSlot, now: Instant) {
        guard let key = devices[slot]?.key, let history = startHistories[.device(key)] else {
            return
        }
        recallBudget(history, slot, now: now)
        recallSurfaces(history.surfaces, of: slot, now: now)
    }

    /// Restores the history of a new destination, because its phone may have the card already.
    mutating func recallCard(_ index: CardSlot, now: Instant) {
        guard !startHistories.isEmpty, let destination = destinations.at(index),
            let device = devices[destination.device]
        else { return }
        if let history = startHistories[.device(device.key)] {
            recallPacing(index, history, now: now)
        }
        let type = activities[destination.activity].definition.type
        guard let token = device.tokens[.start(type: type)],
            let key = historyKey(of: token.value, device), let history = startHistories[key]
        else { return }
        recallPacing(index, history, now: now)
        resume(index, history, type: type, now: now)
    }

    private mutating func recallBudget(_ history: StartHistory, _ slot: DeviceSlot, now: Instant) {
        devices.budgets[slot].recoverStarts(
            configuration.budgets[.start], fullAt: history.startsFullAt, now: now)
    }

    private mutating func recallPacing(_ index: CardSlot, _ history: StartHistory, now: Instant) {
        guard let destination = destinations.at(index),
            let card = history.card(
                of: activities[destination.activity].number, destination.incarnation,
                destination.renewal)
        else { return }
        recallPacing(index, history, card, now: now)
    }

    /// Restores the budgets of a card and its phone from the history, because a new destination
    /// would begin with full budgets.
    private mutating func recallPacing(
        _ index: CardSlot, _ history: StartHistory, _ card: StartHistory.Card, now: Instant
    ) {
        guard let destination = destinations.at(index) else { return }
        let grant = grantInForce(destination).grant
        destinations[index].pacing.recall(
            bucketFullAt: card.bucketFullAt, lastTimestamp: card.lastTimestamp, grant, now: now)
        guard let (_, nested) = deviceBudget(destination.device, grant) else { return }
        devices.budgets[destination.device].recover(
            nested, fullAt: history.bucketFullAt, now: now)
    }

    private mutating func resume(
        _ index: CardSlot, _ history: StartHistory, type: String, now: Instant
    ) {
        guard let destination = destinations.at(index), destination.phase == .waiting,
            !destination[.reservedStart], destination.final == nil,
            isSameText(activities[destination.activity].definition.type, type)
        else { return }
        guard
            let card = history.lastCard(
                of: activities[destination.activity].number, destination.incarnation),
            card.renewal >= destination.renewal
                || destinations.isUntriedAlone(destination, of: devices[destination.device])
        else { return }
        // The device may have been deleted after the token had left it: its own history knows that.
        let own = devices[destination.device].flatMap { startHistories[.device($0.key)] }?
            .exactCard(
                of: activities[destination.activity].number, card.incarnation, card.renewal)
        guard !card.wasLeft, own?.wasLeft != true else {
            let next = max(destination.renewal, card.renewal + 1)
            destinations[index].become(incarnation: card.incarnation, renewal: next)
            return
        }
        destinations[index].resume(card)
        recallPacing(index, history, card, now: now)
        recallSince(index, now: now)
        enter(card.resumedPhase, index, now: now)
    }

    /// Adds what the history under the device's name knows of the card: the device may have been
    /// deleted after its start token had left it.
    private mutating func recallSince(_ index: CardSlot, now: Instant) {
        guard let destination = destinations.at(index),
            let key = devices[destination.device]?.key, let history = startHistories[.device(key)],
            let card = history.exactCard(
                of: activities[destination.activity].number, destination.incarnation,
                destination.renewal)
        else { return }
        destinations[index].alertsThrough = max(destination.alertsThrough, card.alertsThrough)
        destinations[index][.wasDismissed] = destination[.wasDismissed] || card.wasDismissed
        recallPacing(index, history, card, now: now)
    }

    /// Handles the token of a card that the phone still shows, sent after the device was deleted
    /// and registered again. The waiting destination continues with this card instead of starting
    /// another.
    mutating func recallShown(_ reference: ActivityReference, of slot: DeviceSlot, now: Instant) {
        guard !startHistories.isEmpty, let device = devices[slot],
            let history = startHistories[.device(device.key)],
            let activity = activities.slot(
                of: ActivityKey(tenant: device.key.tenant, id: reference.id)),
            let card = history.lastCard(of: activities[activity].number, reference.incarnation),
            card.renewal == reference.renewal, !card.wasLeft
        else { return }
        let index = device.destinations.first { index in
            guard let destination = destinations.at(index) else { return false }
            return destination.activity == activity && destination.phase == .waiting
                && destination.incarnation == reference.incarnation
                && (destination.renewal <= reference.renewal
                    || destinations.isUntriedAlone(destination, of: device))
                && !destination[.reservedStart] && destination.final == nil
        }
        guard let index else { return }
        // The destination may have tried a start with unknown outcome, and the token may be of that
        // card. Take the later time, so that a living card is not taken for expired.
        let tried = destinations[index].cardSince
        destinations[index].resume(card)
        if let tried, tried > card.since ?? .distantPast { destinations[index].cardSince = tried }
        recallPacing(index, history, card, now: now)
    }

    /// The history of a card that the phone still has from before the device was deleted, and that
    /// no destination continues: the relay may have started a second card. Nil if there is none.
    func forgottenCard(
        _ reference: ActivityReference, of slot: DeviceSlot, _ activity: ActivitySlot
    ) -> StartHistory.Card? {
        let number = activities[activity].number
        let cards = histories(of: slot, type: activities[activity].definition.type).compactMap {
            $0.exactCard(of: number, reference.incarnation, reference.renewal)
        }
        return cards.first { $0.phase != .waiting && !$0.wasLeft }
    }

    /// What is known of the cards of a device: under its name, and under its start token.
    func histories(of slot: DeviceSlot, type: String) -> [StartHistory] {
        guard !startHistories.isEmpty, let device = devices[slot] else { return [] }
        let token = device.tokens[.start(type: type)].flatMap { historyKey(of: $0.value, device) }
        return [.device(device.key), token].compactMap { $0.flatMap { startHistories[$0] } }
    }

    // MARK: After a restart

    /// Restores the budgets that no checkpoint has: those of devices without destinations.
    mutating func recallBudgets(now: Instant) {
        guard !startHistories.isEmpty else { return }
        for slot in devices.indices {
            guard let device = devices[slot] else { continue }
            recallStarts(ofDevice: slot, now: now)
            for (name, token) in device.tokens.all {
                guard case .start = name, let key = historyKey(of: token.value, device),
                    let history = startHistories[key]
                else { continue }
                recallBudget(history, slot, now: now)
            }
        }
    }
}

extension Destination {
    /// Continues with the card that the phone has, instead of starting another one.
    fileprivate mutating func resume(_ card: StartHistory.Card) {
        become(incarnation: card.incarnation, renewal: card.renewal)
        cardSince = card.since
        alertsThrough = max(alertsThrough, card.alertsThrough)
        self[.wasDismissed] = card.wasDismissed
    }
}
