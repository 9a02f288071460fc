import TomboloJSON

// How a destination that has something to send gets its push.

extension Core {
    private enum Outlook {
        case postponed(until: Instant?, WaitReason)
        case reserved(Grant, paysToken: Bool, keepsPlace: Bool)
        case queued
        case sent(priority: UInt8, timestamp: Int64)
    }

    mutating func attempt(
        _ slot: CardSlot, _ event: Push.Event, _ wish: Wish, _ alert: Projection.PendingAlert?,
        _ isItsTurn: Bool, now: Instant, effects: inout Effects
    ) {
        switch outlook(slot, event, wish, alert, isItsTurn, now: now) {
        case .postponed(let until, let reason): postpone(slot, until: until, reason, now: now)
        case .reserved(let grant, let paysToken, let keepsPlace):
            // An attempt that must be durable first keeps its turn at the device and its place in
            // the upstream, so that it is sent as soon as it is durable.
            if keepsPlace { keepPlace(slot, now: now) }
            reserve(slot, event, alert, grant, now: now, token: paysToken)
        case .queued: queue(slot, must: event == .end || wish == .start || wish == .must, now: now)
        case .sent(let priority, let timestamp):
            send(slot, event, wish, alert, priority, timestamp, now: now, effects: &effects)
        }
    }

    private mutating func outlook(
        _ slot: CardSlot, _ event: Push.Event, _ wish: Wish, _ alert: Projection.PendingAlert?,
        _ isItsTurn: Bool, now: Instant
    ) -> Outlook {
        guard destinations.holds(slot) else { return .postponed(until: nil, .spacing) }
        if destinations[slot].reservation == .pending, event != .end || alert != nil {
            return .postponed(until: nil, .reserving)
        }
        let awaitsRecord =
            destinations[slot][.tokenIsNew] && event != .start
            || destinations[slot][.awaitsSuccession]
        if awaitsRecord { return .postponed(until: nil, .reserving) }
        // After a crash, the next relay must know the latest possible timestamp: record the clock
        // first.
        if wall(now) > tellsThrough {
            journal.awaitClock(slot, destinations[slot].number)
            return .postponed(until: nil, .reserving)
        }
        if event == .start, let until = startsBackOff(slot, now: now) {
            return .postponed(until: until, .tokenBackOff)
        }
        if event == .start, let destination = destinations.at(slot),
            !destination[.holdsStartToken],
            let until = startsAllow(destination.device, now: now)
        {
            return .postponed(until: until, .startBudget)
        }
        let grant = grantInForce(slot).grant
        let device = deviceBudget(
            destinations[slot].device, grant, for: slot, now: now)
        let turn = destinations[slot].pacing.turn(
            wish, grant, device: device, now: now, wall: wall(now))
        let goesOnRecord = mustBeDurableFirst(slot, event, alert, now: now)
        switch turn {
        case .wait(let until, let reason): return .postponed(until: until, reason)
        case .reserve where !goesOnRecord:
            return .reserved(grant, paysToken: true, keepsPlace: false)
        case .reserve, .send:
            // If others wait already, a new attempt waits behind them (rule 8).
            guard hasPlace(slot, isItsTurn, now: now) else { return .queued }
            guard case .send(let priority, let timestamp) = turn else {
                return .reserved(grant, paysToken: true, keepsPlace: true)
            }
            if goesOnRecord {
                return .reserved(grant, paysToken: priority != 5, keepsPlace: true)
            }
            return .sent(priority: priority, timestamp: timestamp)
        }
    }

    func hasPlace(_ slot: CardSlot, _ isItsTurn: Bool, now: Instant) -> Bool {
        let upstream = destinations[slot].upstream
        if destinations[slot][.keepsPlace] { return upstreams[upstream].isUsable(now: now) }
        return upstreams[upstream].isOpen(now: now)
            && (isItsTurn || !upstreams[upstream].hasWaiting)
    }

    private mutating func postpone(
        _ slot: CardSlot, until: Instant?, _ reason: WaitReason, now: Instant
    ) {
        wait(slot, .deferred(until: until, reason), now: now)
        destinations.deadlines.set(slot, at: until)
        if reason.isOfDevice {
            devices.budgets[destinations[slot].device].isContended = true
        }
    }

    /// True for a start or an alert that is not durable yet. It must be before it is sent: else it
    /// would be sent twice after a crash.
    private func mustBeDurableFirst(
        _ slot: CardSlot, _ event: Push.Event, _ alert: Projection.PendingAlert?, now: Instant
    ) -> Bool {
        let isPaid = event != .start || hasPaidForStart(destinations[slot], now: now)
        return !destinations[slot].isOnRecord(event, alert: alert?.version, isPaid: isPaid)
    }

    mutating func reserve(
        _ slot: CardSlot, _ event: Push.Event, _ alert: Projection.PendingAlert?, _ grant: Grant,
        now: Instant, token: Bool = true
    ) {
        postpone(slot, until: nil, .reserving, now: now)
        if token { reserveToken(slot, grant, now: now) }
        if event == .start { reserveStart(slot, now: now) }
        destinations[slot].reserve(event, alert: alert?.version)
        journal.reserve(slot, destinations[slot].number)
    }

    private mutating func queue(_ slot: CardSlot, must: Bool, now: Instant) {
        let upstream = destinations[slot].upstream
        if !destinations[slot][.isQueued] {
            destinations[slot][.isQueued] = true
            enqueue(.card(slot), in: upstream, must: must, now: now)
        }
        let reason: WaitReason =
            upstreams[upstream].parkedUntil == nil ? .streamLimit : .upstreamClosed
        postpone(slot, until: upstreams[upstream].parkedUntil, reason, now: now)
        destinations.deadlines.set(slot, at: nil)
    }

    mutating func enqueue(
        _ turn: UpstreamTurn, in upstream: UpstreamNumber, must: Bool, now: Instant
    ) {
        let device =
            switch turn {
            case .card(let slot): destinations[slot].device
            case .surface(let slot): surfaces[slot].device
            }
        upstreams[upstream].enqueue(turn, of: device, must: must)
        if upstreams[upstream].seeksRightToken, !upstreams[upstream].isStranger(device) {
            upstreams[upstream].tryStranger(now: now)
        }
    }

    /// Forgets that Apple has refused the device's tokens for topic or environment, because the
    /// device has another token now or is gone.
    mutating func forgetStranger(_ device: DeviceSlot, now: Instant) {
        for upstream in upstreams.numbers { upstreams[upstream].forgetStranger(device, now: now) }
    }

    private mutating func send(
        _ slot: CardSlot, _ event: Push.Event, _ wish: Wish, _ alert: Projection.PendingAlert?,
        _ priority: UInt8, _ timestamp: Int64, now: Instant, effects: inout Effects
    ) {
        guard let projection = projection(slot), let token = pushToken(slot, event) else {
            return
        }
        let upstream = destinations[slot].upstream
        // Compute the state first: it changes the cursor, which a second reference would copy.
        let state = frameState(slot, event, wish, projection, now: now)
        let (whole, value) = bound(state, event, at: slot, now: now)
        let payload = Payload.encode(
            content(slot, projection, event, alert, whole, timestamp, now: now))
        let id = deliveryIDs.make(after: lastFactSeq, &chance)
        var push = Push(
            id: PushID(.card(slot), at: upstream, count: destinations.takePush()),
            upstream: upstream, event: event, token: token.text, apnsID: id.text,
            priority: priority,
            expiration: expiration(slot, event, wish, alert, projection, now: now),
            collapseID: event == .start ? collapseID(slot) : nil,
            payload: payload)
        address(&push, at: slot, now: now)
        if wish != .frame, wish != .echo, wish != .settle { push.changedAt = projection.changedAt }
        if !destinations[slot][.keepsPlace] { upstreams[upstream].took(now: now) }
        let takenBefore = destinations[slot].pacing.taken
        let isHigh = wish == .latest(.high) && projection.urgency == .high
        let closing = isHigh && priority == 5 ? closing(wish, slot, now: now) : nil
        let tokenTaken = spend(slot, event, priority, timestamp, now: now)
        clearReservation(slot)
        if wish == .echo || wish == .settle {
            destinations[slot].echo.sent(projection.version)
        }
        let flying = Destination.InFlight(
            push: push.id, event: event, version: projection.version,
            contentHash: contentHash(projection, state),
            visibleHash: visibleHash(slot, projection), tokenTaken: tokenTaken,
            wish: wish, token: token, alert: event == .start ? nil : alert?.version,
            staleAt: projection.staleDate(in: event, at: wall(now)),
            until: now + configuration.limits.inFlightMax, timestamp: timestamp,
            takenBefore: takenBefore, apnsID: id,
            route: push.surface == .channel
                ? .channel : event == .start ? .pushToStart : .updateToken,
            priority: priority, bytes: Int32(clamping: push.payload.count),
            delay: destinations[slot].delay, bound: value, reserve: closing?.reserve)
        overtake(slot, now: now)
        destinations[slot].inFlight = flying
        (destinations[slot].waiting, destinations[slot].delay) = (nil, nil)
        if event == .start {
            destinations[slot].begin(push.id, now: now)
            spendStart(slot, now: now)
        }
        // A start contains the newest alert; older alerts are outdated then.
        let alerted = event == .start ? projection.version : alert?.version ?? 0
        destinations[slot].alertsThrough = max(destinations[slot].alertsThrough, alerted)
        if wish != .frame { destinations[slot].noteDelivery(flying) }
        destinations.deadlines.set(slot, at: now + configuration.limits.inFlightMax)
        scheduleCheckpoint(slot, mayWait: event == .update && alert == nil, now: now)
        counters[configuration[upstream].tenant].pushesSent += 1
        effects.pushes.append(consume push)
    }

    /// Addresses the push to the channel, if the destination is one.
    private func address(_ push: inout Push, at slot: CardSlot, now: Instant) {
        let device = destinations[slot].device
        guard devices.traits(device).isChannel,
            let channel = devices[device]?.channel
        else { return }
        push.surface = .channel
        // A channel that stores nothing accepts only expiration 0.
        if channel.storage == .nothing { push.expiration = 0 }
    }

    /// Spends all budgets for a push. Returns true if that took a token from the destination's
    /// bucket.
    private mutating func spend(
        _ slot: CardSlot, _ event: Push.Event, _ priority: UInt8, _ timestamp: Int64, now: Instant
    ) -> Bool {
        var pacing = destinations[slot].pacing
        let grant = grantInForce(slot).grant
        let isShared = timestamp == pacing.taken.counting(at: wall(now))
        if priority == 10, !pacing.hasPaid(grant, now: now) {
            takeFromDevice(slot, grant, now: now)
        }
        let tokenTaken = pacing.sent(
            priority: priority, timestamp: timestamp, grant, now: now)
        destinations[slot].pacing = pacing
        noteDeviceSend(slot, priority: priority, now: now)
        destinations[slot][.owesTrailing] = isShared && event == .update
        return tokenTaken
    }

    /// The push token for this event; nil if the destination has none.
    private func pushToken(_ slot: CardSlot, _ event: Push.Event) -> PushToken? {
        if event != .start { return destinations[slot].token }
        return destinations.at(slot).flatMap { startToken($0) }
    }

    /// The collapse id of a start, so that a repeated start of a card replaces the first one. It
    /// comes from the activity's id: a number would reveal how many activities other tenants have.
    private func collapseID(_ slot: CardSlot) -> String? {
        destinations.at(slot).map { destination in
            let key = activities[destination.activity].key
            var hash = StableHash()
            hash.combine(key.tenant.name.rawValue.utf8)
            hash.combine(key.id.rawValue.utf8)
            return "start-\(String(hash.value, radix: 16))-\(destination.incarnation)"
        }
    }

    mutating func keepPlace(_ slot: CardSlot, now: Instant) {
        guard !destinations[slot][.keepsPlace] else { return }
        upstreams[destinations[slot].upstream].took(now: now)
        destinations[slot][.keepsPlace] = true
        devices.budgets[destinations[slot].device].keptFor = slot
    }

    private mutating func clearReservation(_ slot: CardSlot) {
        let device = destinations[slot].device
        destinations[slot].clearReservation()
        if devices.budgets[device].keptFor == slot { devices.budgets[device].keptFor = nil }
    }

    /// Takes back a durable attempt that is not sent now. It does not count as tried, and its place
    /// in the upstream becomes free.
    mutating func withdraw(_ slot: CardSlot, now: Instant) {
        guard destinations.holds(slot), destinations[slot][.keepsPlace],
            destinations[slot].reservation == .granted
        else { return }
        upstreams.wake(destinations[slot].upstream)
        leavePlace(slot)
        scheduleCheckpoint(slot, now: now)
    }

    /// Clears a reservation, and frees the place in the upstream that it keeps.
    mutating func leavePlace(_ slot: CardSlot) {
        guard destinations.holds(slot) else { return }
        if destinations[slot][.keepsPlace] {
            upstreams[destinations[slot].upstream].gaveBack()
        }
        clearReservation(slot)
    }

    private func content(
        _ slot: CardSlot, _ projection: Projection, _ event: Push.Event,
        _ alert: Projection.PendingAlert?, _ state: JSON, _ timestamp: Int64, now: Instant
    ) -> Payload.Content {
        var content = Payload.Content(
            timestamp: timestamp, event: event, state: forPhone(state, at: slot))
        content.alert = alert?.content
        content.describe(projection, at: wall(now))
        if event == .end { content.omitsState = projection.ending?.isBare ?? false }
        if event == .start, let destination = destinations.at(slot) {
            let definition = activities[destination.activity].definition
            content.start = Payload.StartContent(
                type: definition.type, attributes: attributes(destination),
                asksForToken: devices[destination.device]?.asksForToken ?? false,
                channel: startChannel(destination))
            // The phone drops a start without an alert (APNs requires `alert`). Alerts without text
            // can only come from older relays.
            let hasText = alert.map { Alert.hasText($0.content.document.root) } ?? false
            if !hasText { content.alert = Self.quietAlert }
        }
        return content
    }

    /// The state with its dates in the encoding that the app decodes.
    private func forPhone(_ state: JSON, at slot: CardSlot) -> JSON {
        // Fast path: most relays have no types.
        guard !types.isEmpty else { return state }
        let activity = destinations[slot].activity
        return types.encoded(
            state, activities[activity].definition, activities[activity].key.tenant)
    }

    /// The alert of a start that has none. The texts are empty, but the phone accepts the start.
    static let quietAlert = JSON(unchecked: Array(#"{"title":"","body":""}"#.utf8))

    private func expiration(
        _ slot: CardSlot, _ event: Push.Event, _ wish: Wish, _ alert: Projection.PendingAlert?,
        _ projection: Projection, now: Instant
    ) -> Int64 {
        let wall = wall(now)
        switch (event, wish) {
        case (.start, _): return (wall + .minutes(10)).seconds
        case (.end, _): return (wall + .hours(4)).seconds
        // A frame is not stored at Apple, because a later one replaces it. Only a bundle has no
        // later one.
        case (_, .frame) where !destinations[slot].isBundle: return 0
        default: break
        }
        if let alert { return max(alert.expiresAt, wall + .seconds(1)).seconds }
        // Stale data is better than older data.
        return (projection.staleDate.flatMap { $0 > wall ? $0 : nil } ?? wall + .hours(1)).seconds
    }
}
