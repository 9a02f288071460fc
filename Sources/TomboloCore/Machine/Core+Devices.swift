import TomboloJSON

// Commands of devices: registration, tokens and reports.

extension Core {
    mutating func takeDeviceCommand(
        _ command: DeviceCommand, for key: DeviceKey, by authority: DeviceAuthority,
        _ ticket: Ticket, now: Instant
    ) {
        do {
            try devices.checkOwner(
                of: key, authority, registers: command.isRegistration, deliveryIDs)
            makeRoom(for: command, key, now: now)
            switch command {
            case .register(let registration):
                let (admitted, stored) = try admitRegistration(registration, key, by: authority)
                register(
                    admitted, key, by: authority,
                    forgetsUser: registration.forgets.contains(.user), now: now)
                journal.answer(ticket, stored)
            case .delete: try deleteDevice(key, ticket, now: now)
            case .putToken(let name, let registration):
                try putToken(
                    name, registration, key, by: authority, ticket, now: now)
            case .putTokens(let set):
                let slot = try devices.registered(key)
                let lint = devices[slot]?.refusedTokenLints(of: set.tokens) ?? []
                let strange = set.tokens.compactMap(\.name.mayBeActivityKits)
                    .filter { !isFor(key, $0) }.flatMap(Lint.ofStranger)
                try putTokens(set, slot, by: authority, now: now)
                writeDevice(slot)
                journal.answer(ticket, Stored(.updated, lint: lint + strange))
            case .deleteToken(let name, let token):
                try deleteToken(name, token, key, ticket, now: now)
            case .presence(let report):
                try takePresence(report, of: key, ticket, now: now)
            case .report(let reference, let report):
                try takeReport(report, on: reference, key, now: now)
                let isStrange = reference.mayBeActivityKits && !isFor(key, reference)
                let stored = Stored(.updated, lint: isStrange ? Lint.ofStranger(reference) : [])
                // The phone does not repeat its last report about a card, so that one must be
                // durable.
                if report.phase == .ended || report.phase == .dismissed {
                    journal.answer(ticket, stored)
                } else {
                    journal.answerNow(ticket, .stored(stored))
                }
            case .action(let action):
                try act(action, key, by: authority, ticket, now: now)
                noteSignOfLife(try devices.registered(key), now: now)
            }
            devices.hasSpoken(key, now: now)
        } catch {
            counters[key.tenant].commandsRefused += 1
            journal.answerNow(ticket, .refused(error))
        }
    }

    /// Adds the device's record to the pending batch, and has the batch written now.
    mutating func writeDevice(_ slot: DeviceSlot) {
        guard let device = devices[slot] else { return }
        journal.write(record(of: device))
        journal.flushNow()
    }

    // MARK: Registration

    private mutating func register(
        _ registration: DeviceRegistration, _ key: DeviceKey, by authority: DeviceAuthority,
        forgetsUser: Bool, now: Instant
    ) {
        // Tokens and cards belong to one app in one environment: with another one, start from
        // nothing.
        if let known = devices.slot(of: key), moves(known, to: registration) {
            forgetDevice(known, now: now)
        }
        let slot: DeviceSlot
        var hasOtherUser = false
        let known = devices.slot(of: key).flatMap { devices[$0]?.registration }
        let owner = authority.owner(
            after: registration, known: devices.owner(of: key, deliveryIDs), user: known?.user,
            forgetsUser: forgetsUser, newest: keys.order.newest)
        if let present = devices.slot(of: key) {
            slot = present
            if let user = devices.leaveUser(slot) { audiences.moveDevice(-1, of: user) }
            hasOtherUser = !isSameText(known?.user, registration.user)
            devices[known: slot].update(registration, at: wall(now))
            devices[known: slot].heard?.classifier.setEdge(registration.controlCenterEdge)
            // The fact has no user names, because the erasure of a user could not find them.
            if hasOtherUser { noteFact("device.user_changed", of: slot, now: now) }
        } else {
            slot = devices.insert(
                Device(key: key, number: devices.takeNumber(), registration: registration))
            devices[known: slot].audience = audiences.takeActivities(naming: key)
            devices.register(slot, key)
            journal.write(devices.comeBack(key, deliveryIDs))
            recallStarts(ofDevice: slot, now: now)
            noteFact("device.registered", of: slot, now: now)
        }
        if hasOtherUser || known == nil { devices[known: slot].joinedAt = wall(now) }
        devices[known: slot].owner = owner
        devices.shareRegistration(slot)
        if let user = devices.enterUser(slot) { audiences.moveDevice(1, of: user) }
        leaveCards(on: slot, hasOtherUser: hasOtherUser, now: now)
        adoptGrants(of: slot, now: now)
        writeDevice(slot)
        for activity in audience(of: slot) {
            addDestination(activity, slot, now: now)
        }
        deviceChanged(slot, since: known, now: now)
        noteSignOfLife(slot, now: now)
    }

    /// The registration to store, and the answer with its lints. Throws if the device may not
    /// register so.
    func admitRegistration(
        _ registration: DeviceRegistration, _ key: DeviceKey, by authority: DeviceAuthority
    ) throws(Refusal) -> (DeviceRegistration, Stored) {
        let known = devices.slot(of: key).flatMap { devices[$0] }
        let (registration, lint) = registration.understood(by: configuration.zones)
        let whole = try authority.bind(
            registration, known: known?.registration,
            onlyApp: configuration.onlyApp(of: key.tenant)
        ).completed(by: known?.registration, onlyApp: configuration.onlyApp(of: key.tenant))
        try checkBounds(whole, key, known: devices.slot(of: key))
        let upstream = try configuration.upstream(of: whole, tenant: key.tenant)
        if whole.budgetClass == .lab, !configuration[upstream].allowsLab {
            throw Refusal(
                .labRefused,
                "class \"lab\" has no budget at all and is only for an app whose endpoint is a "
                    + "simulator; set \"endpoint\" for the app, or take \"frequent\"",
                errors: [FieldError(pointer: "/budget_class", message: "is refused for this app")])
        }
        var stored = Stored(known == nil ? .created : .updated)
        stored.lint = lint + Lint.of(whole, in: configuration[upstream].environment)
        if let slot = devices.slot(of: key), moves(slot, to: whole), let known,
            known.tokens.count > 0
        {
            stored.lint.append(Lint.ofMove(known.tokens.count))
        }
        return (whole, stored)
    }

    /// True if the registration has another app or environment than the device has now.
    private func moves(_ slot: DeviceSlot, to registration: DeviceRegistration) -> Bool {
        guard let known = devices[slot] else { return false }
        let upstreams = [known.registration, registration].map {
            // Nil for an app that is not configured any more.
            try? configuration.upstream(of: $0, tenant: known.key.tenant)
        }
        return upstreams[0] != upstreams[1]
    }

    // MARK: Tokens

    private mutating func putToken(
        _ name: TokenName, _ registration: TokenRegistration, _ key: DeviceKey,
        by authority: DeviceAuthority, _ ticket: Ticket, now: Instant
    ) throws(Refusal) {
        let slot = try devices.registered(key)
        let lint = devices[slot]?.refusedTokenLints(of: [(name, registration)]) ?? []
        let kind = try keepToken(
            name, registration, slot, by: authority, now: now)
        guard kind != .outdated else {
            journal.answerNow(ticket, .stored(Stored(.outdated, lint: lint)))
            return
        }
        writeDevice(slot)
        let strange = kind == .kept ? name.mayBeActivityKits.map(Lint.ofStranger) ?? [] : []
        journal.answer(ticket, Stored(kind, lint: lint + strange))
    }

    /// Stores a token and continues what has waited for it. The caller stores the device.
    mutating func keepToken(
        _ name: TokenName, _ registration: TokenRegistration, _ slot: DeviceSlot,
        by authority: DeviceAuthority, now: Instant
    ) throws(Refusal) -> Stored.Kind {
        guard let device = devices[slot],
            let (token, kind) = try judge(
                name, registration, of: device, by: authority, now: now)
        else { return .outdated }
        takeFromOthers(token.value, for: slot, now: now)
        setToken(name, token, of: slot, now: now)
        if device.retired[name]?.value != token.value { devices[known: slot].retired[name] = nil }
        if device.tokens[name]?.value != token.value {
            noteToken("token.registered", name, of: slot, now: now)
            forgetStranger(slot, now: now)
        }
        switch name {
        case .activity(let reference):
            if !token.isOnRecord {
                journal.keep(
                    .init(
                        device: slot, number: device.number, reference: reference,
                        value: token.value))
            }
            useToken(of: slot, reference, now: now)
        case .start(let type):
            if device.tokens[name]?.value != token.value {
                devices[known: slot].startBackOffs[name] = nil
                recallStarts(of: token.value, type: type, slot, now: now)
            }
            for destination in devices[slot]?.destinations ?? [] {
                destinations.wakeFirst(destination)
            }
        case .widget, .control: useSurfaceToken(name, of: slot, now: now)
        }
        return kind
    }

    /// The token to store, and the kind of answer; nil if the request is older than what is known.
    func judge(
        _ name: TokenName, _ registration: TokenRegistration, of device: Device,
        by authority: DeviceAuthority, now: Instant
    ) throws(Refusal) -> (Device.Token, Stored.Kind)? {
        let known = device.tokens[name]
        // If the app gives no time, the token counts as new, even if the clock was set back.
        let last = known?.observedAt ?? device.retired[name]?.observedAt ?? device.reconciledAt
        // A time in the future comes from a wrong clock: use the time of arrival.
        let observed =
            registration.observedAt.map { min($0, wall(now)) } ?? max(wall(now), last)
        // A known time in the future is from before the clock was set back: it does not count.
        if let known, observed < known.observedAt, known.observedAt <= wall(now) { return nil }
        if known == nil, observed < device.reconciledAt, device.reconciledAt <= wall(now) {
            return nil
        }
        if device.isRetired(name, registration.token, observedAt: observed, now: wall(now)) {
            return nil
        }
        if known == nil, device.tokens.count >= Device.tokensMax {
            throw Refusal(
                .limitReached,
                "the device has \(Device.tokensMax) tokens already; delete some first")
        }
        let value = PushToken(registration.token)
        guard try mayTake(value, observedAt: observed, for: device, by: authority) else {
            return nil
        }
        let isSame = known?.value == value
        let token = Device.Token(
            value: value,
            registeredAt: isSame ? known?.registeredAt ?? wall(now) : wall(now),
            observedAt: observed, isOnRecord: isSame && known?.isOnRecord == true)
        // The answer must not reveal whether an activity of other devices exists.
        if case .activity(let reference) = name, !isFor(device.key, reference) {
            return (token, .kept)
        }
        return (token, known == nil ? .created : .updated)
    }

    /// Lets pushes use the update tokens that are durable now.
    mutating func useTokens(_ tokens: [JournalBatch.Token], now: Instant) {
        for one in tokens {
            let name = TokenName.activity(one.reference)
            guard devices[one.device]?.number == one.number,
                devices[one.device]?.tokens[name]?.value == one.value
            else { continue }
            devices[known: one.device].tokens[name]?.isOnRecord = true
            for slot in devices[one.device]?.destinations ?? []
            where destinations.at(slot).map({ self.reference($0) }) == one.reference {
                destinations[slot][.tokenIsNew] = false
                destinations.wakeFirst(slot)
            }
            noteSignOfLife(one.device, besides: one.reference, now: now)
        }
    }

    /// The device is reachable again: pushes to its other cards may have been lost meanwhile.
    mutating func noteSignOfLife(
        _ device: DeviceSlot, besides reference: ActivityReference? = nil, now: Instant
    ) {
        for slot in devices[device]?.destinations ?? []
        where reference == nil || destinations.at(slot).map({ self.reference($0) }) != reference {
            destinations[slot].noteSignOfLife(now: now)
            destinations.wake(slot, now: now)
        }
    }

    /// Gives an update token to the card's destination: after a start, for a card that the app has
    /// started, or for a card that was believed gone.
    private mutating func useToken(
        of device: DeviceSlot, _ reference: ActivityReference, now: Instant
    ) {
        guard let token = devices[device]?.tokens[.activity(reference)] else { return }
        recallShown(reference, of: device, now: now)
        var isUsed = false
        for slot in devices[device]?.destinations ?? []
        where destinations.at(slot).map({ self.reference($0) }) == reference {
            isUsed = true
            useToken(token, at: slot, now: now)
        }
        if !isUsed { takeOrphan(reference, of: device, now: now) }
        // Examine the new card before others.
        guard token.isOnRecord else { return }
        noteSignOfLife(device, besides: reference, now: now)
    }

    private mutating func useToken(
        _ token: Device.Token, at slot: CardSlot, now: Instant
    ) {
        destinations[slot][.tokenIsNew] = !token.isOnRecord
        guard let destination = destinations.at(slot), destination.token != token.value,
            destination.phase != .listening
        else { return }
        destinations[slot].token = token.value
        destinations[slot].pacing.endBackOff()
        destinations[slot].refusalsInRow = 0
        // The phone has reported that the card is over, so the token comes too late.
        if destination.isOverOnPhone, projection(slot)?.ending == nil { return }
        let end = destination.cardSince.map {
            clock.agedAt(configuration.limits.cardLife, since: $0)
        }
        let isOver = destination.phase == .lapsed || end.map { $0 <= now } ?? false
        switch destination.phase {
        case .ended where destination.token != nil, .live:
            // The phone sends another token although the end was sent: it has not received the end.
            destinations[slot].noteSignOfLife(now: now)
        case _
        where isOver && end.map { clock.shownAt(token.observedAt, now: now) < $0 } ?? false:
            // A token that was made while the card could live does not prove that it lives now. The
            // card may be over in another phase than `lapsed`, if its last token was dead.
            return
        default:
            if isOver || end == nil {
                destinations[slot].cardSince = now
            }
            if destination.phase == .started || destination.phase == .starting,
                let since = destination.cardSince
            {
                let type = activities[destination.activity].definition.type
                devices[known: destination.device].noteBegun(type, at: clock.shown(at: since))
            }
            enter(.live, slot, now: now)
            // Pushes to the dead token may never have arrived.
            if destination.phase == .gone { destinations[slot].noteSignOfLife(now: now) }
        }
        destinations.wakeFirst(slot)
        endPredecessor(of: slot, now: now)
        // A card that comes back may have been replaced meanwhile.
        for next in devices[destination.device]?.destinations ?? []
        where destinations[next].activity == destination.activity
            && destinations[next].isSuccessor(of: destination) && destinations[next].phase == .live
        {
            endPredecessor(of: next, now: now)
        }
    }
}
