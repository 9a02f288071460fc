// A phone's starts outlive the device that had them.

extension Core {
    /// What a start token's phone has had is remembered when the token leaves its device.
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

    /// The same of a device's budget, when the device is deleted.
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

    /// The same of a card whose token goes to another device: both are one phone, and what the card
    /// and the phone have been sent counts there.
    mutating func moveCard(
        _ reference: ActivityReference, from slot: DeviceSlot, to other: DeviceSlot, now: Instant
    ) {
        func find(on slot: DeviceSlot) -> CardSlot? {
            devices[slot]?.destinations.first {
                destinations.at($0).map(self.reference) == reference
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

    /// Of somebody whose data is erased.
    mutating func forgetHistories(of device: DeviceKey) {
        journal.write(startHistories.remove(.device(device)))
        guard let known = devices.slot(of: device).flatMap({ devices[$0] }) else { return }
        for (_, token) in known.tokens.all {
            if let key = historyKey(of: token.value, known) {
                journal.write(startHistories.remove(key))
            }
        }
    }

    /// A card that may be on the phone, or whose start was tried; nil where none was.
    private func card(of destination: Destination, now: Instant) -> StartHistory.Card? {
        guard
            destination.phase != .waiting || destination.reservedStart
                || !destination.pacing.taken.isEmpty
        else { return nil }
        return StartHistory.Card(
            activity: activities[destination.activity].number.rawValue,
            incarnation: destination.incarnation, renewal: destination.renewal,
            phase: destination.reservedStart
                ? .startUnknown : destination.final == nil ? destination.phase : .ended,
            since: destination.cardSince(tryingAt: wall(now)),
            alertsThrough: max(destination.alertsThrough, destination.reservedAlert ?? 0),
            lastTimestamp: destination.pacing.taken.counting(at: wall(now)),
            wasDismissed: destination.wasDismissed,
            bucketFullAt: destination.pacing.bucket.fullAt, wasLeft: destination.hasBareEnd)
    }

    private func historyKey(of value: PushToken, _ device: Device) -> StartHistory.Key? {
        guard let place = configuration.tokenPlace(of: value, device) else { return nil }
        let app = configuration[place.lane]
        var hash = StableHash()
        hash.combine(app.tenant.name.rawValue.utf8)
        hash.combine(app.id.utf8)
        hash.combine(app.environment.name.utf8)
        hash.combine(value.text.utf8)
        return .token(app.tenant, hash: hash.value)
    }

    // MARK: Coming back

    /// A start token has come to a device: what its phone has had counts there.
    mutating func recallStarts(of value: PushToken, type: String, _ slot: DeviceSlot, now: Instant)
    {
        guard !startHistories.isEmpty, let device = devices[slot],
            let key = historyKey(of: value, device), let history = startHistories[key]
        else { return }
        recallBudget(history, slot, now: now)
        for index in device.destinations { resume(index, history, type: type, now: now) }
    }

    /// A device has come back under its name.
    mutating func recallStarts(ofDevice slot: DeviceSlot, now: Instant) {
        guard let key = devices[slot]?.key, let history = startHistories[.device(key)] else {
            return
        }
        recallBudget(history, slot, now: now)
        recallSurfaces(history.surfaces, of: slot, now: now)
    }

    /// A destination is new: its phone may have the card already.
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

    /// What a card has been sent counts on, and it counts as having just been sent something.
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
            !destination.reservedStart, destination.final == nil,
            isSameText(activities[destination.activity].definition.type, type)
        else { return }
        guard
            let card = history.lastCard(
                of: activities[destination.activity].number, destination.incarnation),
            card.renewal >= destination.renewal
        else { return }
        guard !card.wasLeft else {
            let next = card.renewal + 1
            destinations[index].become(incarnation: card.incarnation, renewal: next)
            return
        }
        destinations[index].resume(card)
        recallPacing(index, history, card, now: now)
        recallSince(index, now: now)
        enter(card.resumedPhase, index, now: now)
    }

    /// What became of the card after its start token had left the device: the device may have gone
    /// later.
    private mutating func recallSince(_ index: CardSlot, now: Instant) {
        guard let destination = destinations.at(index),
            let key = devices[destination.device]?.key, let history = startHistories[.device(key)],
            let card = history.exactCard(
                of: activities[destination.activity].number, destination.incarnation,
                destination.renewal)
        else { return }
        destinations[index].alertsThrough = max(destination.alertsThrough, card.alertsThrough)
        destinations[index].wasDismissed = destination.wasDismissed || card.wasDismissed
        recallPacing(index, history, card, now: now)
    }

    /// A device that went and came back shows which card it has by that card's own token, whatever
    /// became of its start token: the destination that would start another goes on with this one.
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
                && destination.renewal <= reference.renewal
                && !destination.reservedStart && destination.final == nil
        }
        guard let index else { return }
        // The token may as well be that of a start since, whose outcome nobody learned: of the two
        // the younger card, for a living one must not be taken for dead.
        let tried = destinations[index].cardSince
        destinations[index].resume(card)
        if let tried, tried > card.since ?? .distantPast { destinations[index].cardSince = tried }
        recallPacing(index, history, card, now: now)
    }

    /// A card of a running activity that the phone had before its device went and came back, under
    /// this name or another, and that the relay does not go on with: the phone had two. Nil where
    /// it had none such.
    func forgottenCard(
        _ reference: ActivityReference, of slot: DeviceSlot, _ activity: ActivitySlot
    ) -> StartHistory.Card? {
        guard !startHistories.isEmpty, let device = devices[slot] else { return nil }
        let type = activities[activity].definition.type
        let token = device.tokens[.start(type: type)].flatMap { historyKey(of: $0.value, device) }
        let keys = [.device(device.key), token].compactMap { $0 }
        let number = activities[activity].number
        let cards = keys.compactMap {
            startHistories[$0]?.exactCard(of: number, reference.incarnation, reference.renewal)
        }
        return cards.first { $0.phase != .waiting && !$0.wasLeft }
    }

    // MARK: After a restart

    /// Budgets that marks do not carry: those of devices that have begun nothing themselves.
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
    /// Goes on with a card that its phone has.
    fileprivate mutating func resume(_ card: StartHistory.Card) {
        become(incarnation: card.incarnation, renewal: card.renewal)
        cardSince = card.since
        alertsThrough = max(alertsThrough, card.alertsThrough)
        wasDismissed = card.wasDismissed
    }
}
