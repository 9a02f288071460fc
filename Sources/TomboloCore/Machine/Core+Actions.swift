// Users' actions on phones. Each becomes a fact for the producer, durable before the phone's
// answer.

extension Core {
    /// Accepts a user's action, unless it repeats a request with the same idempotency key.
    mutating func act(
        _ action: DeviceAction, _ key: DeviceKey, by authority: DeviceAuthority, _ ticket: Ticket,
        now: Instant
    ) throws(Refusal) {
        guard let device = devices[try devices.registered(key)] else { return }
        let action = action.arrived(at: wall(now), clockIsBehind: clock.isBehind)
        var stored = Stored(.created)
        if let earlier = try devices.actions.earlier(action, of: key) {
            (stored.action, stored.isReplay) = (earlier, true)
            return journal.answer(ticket, stored)
        }
        let activity = try check(action, of: device, now: now)
        try devices.actions.count(key, now: now)
        let (taken, records) = devices.actions.takeAction(action, of: key, &chance, now: now)
        journal.write(records)
        let body = action.body(
            taken.id, of: device.recipient,
            owner: device.registration.user.map { deliveryIDs.owner($0, key.tenant) })
        note(key.tenant, activity, DeviceAction.factKind, body, now: now)
        stored.action = taken
        journal.answer(ticket, stored)
    }

    /// Throws if the action has expired, or if nothing that the device was sent offers it. Returns
    /// the activity whose card was tapped, if any.
    func check(
        _ action: DeviceAction, of device: Device, now: Instant
    ) throws(Refusal) -> ActivityNumber? {
        guard hasRoom else { throw Self.noRoom }
        let wall = wall(now)
        try action.checkAge(at: wall)
        // Timestamps of cards are in whole seconds and up to two seconds ahead of the clock.
        let oldest = (wall - DeviceAction.offeredFor).seconds
        let cards = device.destinations.compactMap { destinations.at($0) }.filter {
            !$0.phase.isBeforeStart && $0.mayHaveTaken(since: oldest) && !isOfAnotherUser($0)
        }
        let card = cards.first { reference($0) == action.activity }
        // It is unknown who listens on a broadcast channel, so any device of the app may act.
        let onChannel = action.activity.flatMap { reference in
            activities.slot(of: ActivityKey(tenant: device.key.tenant, id: reference.id))
                .map { activities[$0] }.flatMap { $0.isOnChannel(reference) ? $0 : nil }
        }.flatMap { activity in
            let app = device.registration.app ?? configuration.onlyApp(of: device.key.tenant)
            return activity.definition.app == app ? activity : nil
        }
        let tapped = card.map { activities[$0.activity] } ?? onChannel
        let offersIt =
            if let kind = action.widget {
                offers(action, byWidget: kind, on: device, at: wall)
            } else if let intent = action.intent {
                (action.activity == nil ? cards.map { activities[$0.activity] } : [tapped])
                    .contains { activity in
                        // After its end a card stays visible for hours, but its buttons must do
                        // nothing.
                        activity.flatMap {
                            $0.hasEnded ? nil : types.type(of: $0.definition, $0.key.tenant)
                        }?.intents.contains { isSameText($0.name, intent) } ?? false
                    }
                    // For a widget's button, the type of the activity that the widget shows counts.
                    || action.activity == nil
                        && timelines.shown(to: device.registration.user, device.key).contains {
                            timelines[$0].flatMap { types.type(of: $0, activities) }?
                                .intents.contains { isSameText($0.name, intent) } ?? false
                        }
            } else if let link = action.link {
                timelines.offer(
                    deliveryIDs.link(link), to: device.registration.user, device.key, at: wall)
            } else {
                tapped != nil
            }
        guard offersIt, action.activity == nil || tapped != nil else {
            throw Refusal(
                .notOffered,
                "nothing that device \"\(device.key.id)\" was sent in the last 24 hours offers it"
                    + timelines.hint(for: device.registration.user, device.key))
        }
        return tapped?.number
    }

    /// True if the timeline of this kind of widget, if the device may read it, offers the link or a
    /// button with the intent.
    private func offers(
        _ action: DeviceAction, byWidget kind: Identifier, on device: Device, at wall: Instant
    ) -> Bool {
        guard let app = device.registration.app ?? configuration.onlyApp(of: device.key.tenant)
        else { return false }
        let subjects =
            action.config.map { [TimelineSubject.key($0)] }
            ?? [.device(device.key.id)] + (device.registration.user.map { [.user($0)] } ?? [])
        return subjects.contains { subject in
            let key = TimelineKey(
                tenant: device.key.tenant, app: app, kind: kind, subject: subject)
            guard let row = timelines[key],
                row.isReadable(by: .device(device.key.id, boundTo: nil), device)
            else { return false }
            if let link = action.link { return row.offers(deliveryIDs.link(link), at: wall) }
            return types.type(of: row, activities)?.intents
                .contains { isSameText($0.name, action.intent) } ?? false
        }
    }
}
