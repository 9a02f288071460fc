// A private channel for the cards of one activity: phones with iOS 18 and later then need no update
// token. It is not known yet whether a real phone shows such updates before the user taps "Allow";
// the devices' reports will show it.

extension Core {
    /// True if a destination's card should listen on the activity's own channel. Cards of an
    /// earlier incarnation keep what they have: an update token or a channel.
    func wantsChannel(_ destination: Destination) -> Bool {
        let activity = activities[destination.activity]
        let route = activity.definition.route
        guard destination.incarnation == activity.incarnation, route == .channel || route == .auto,
            !destination[.hasFallenBack],
            !devices.traits(destination.device).isChannel
        else { return false }
        return devices[destination.device]?.asksForToken ?? false
    }

    /// The destination for the channel of the activity's present incarnation; nil if it has no
    /// channel.
    func channelDestination(_ activity: ActivitySlot) -> CardSlot? {
        guard let slot = activities[activity].channelDestination,
            destinations.holds(slot), destinations[slot].activity == activity,
            destinations[slot].incarnation == activities[activity].durableIncarnation
        else { return nil }
        return slot
    }

    /// The channel id for a start's payload; nil if the card gets no channel, or none is ready yet.
    func startChannel(_ destination: Destination) -> String? {
        guard wantsChannel(destination) else { return nil }
        return channelDestination(destination.activity).flatMap { destinations[$0].token?.text }
    }

    /// True if the channel of the start may still send the alert: the start must not contain it,
    /// else the phone would ring twice.
    func isOnItsWay(
        _ alert: Projection.PendingAlert, onChannelOf destination: Destination
    ) -> Bool {
        guard wantsChannel(destination), let slot = channelDestination(destination.activity),
            let channel = destinations.at(slot)
        else { return false }
        return alert.version > channel.alertsThrough || channel.inFlight?.alert == alert.version
    }

    /// Finds a channel for a waiting start. Returns the time until which the start waits for a
    /// channel; nil if it need not wait.
    mutating func seekChannel(
        _ slot: CardSlot, now: Instant, effects: inout Effects
    ) -> Instant? {
        guard destinations[slot].phase == .waiting, let destination = destinations.at(slot),
            wantsChannel(destination), startToken(destination) != nil,
            channelDestination(destination.activity) == nil
        else { return nil }
        let upstream = destination.upstream
        let taken = channels[upstream].takeChannel(now: now)
        if channels[upstream].asks(now: now) == true { effects.channels.append(upstream) }
        if let taken {
            use(taken, for: destination.activity, upstream, now: now)
            return nil
        }
        let until = destination.phaseSince + configuration.limits.channelWait
        if channels[upstream].isComing, now < until {
            channels.wait(slot, at: upstream)
            return until
        }
        // No channel comes in time (the pool is full, or Apple refused): use the update token
        // instead.
        destinations[slot][.hasFallenBack] = true
        scheduleCheckpoint(slot, now: now)
        return nil
    }

    private mutating func use(
        _ channel: DeviceSlot, for activity: ActivitySlot, _ upstream: UpstreamNumber, now: Instant
    ) {
        devices[known: channel].channel?.activity = activities[activity].number
        writeDevice(channel)
        let version = activities[activity].durable?.version ?? 0
        var destination = Destination(
            number: destinations.takeNumber(), activity: activity, device: channel,
            incarnation: activities[activity].durableIncarnation, upstream: upstream,
            ledger: Ledger(since: version + 1), phaseSince: now)
        destination.token = devices[channel]?.channel.map { PushToken($0.id) }
        destination.phase = .live
        // Starts contain the present state and its alerts, so the channel need not send them again.
        destination.acknowledged = version
        destination.alertsThrough = version
        let slot = insert(destination)
        activities[activity].channelDestination = slot
        journal.checkpoint(slot)
        journal.flushSoon(now: now)
        for card in activities[activity].destinations {
            guard case .deferred(_, .channel)? = destinations[card].waiting else { continue }
            destinations.wake(card, now: now)
        }
    }

    /// Records that a card listens on its channel. The state is sent again if the channel's newest
    /// push is newer than the start, because the card may have missed it.
    mutating func listens(_ slot: CardSlot, sent version: Int64, now: Instant) {
        enter(.listening, slot, now: now)
        guard let channel = channelDestination(destinations[slot].activity) else { return }
        // A phone ignores pushes with a timestamp older than its start's, so the timestamp of the
        // channel's next push must be later than that.
        let started = destinations[slot].pacing.taken.counting(at: wall(now))
        if started > destinations[channel].pacing.taken.counting(at: wall(now)) {
            destinations[channel].pacing.taken.note(started)
            scheduleCheckpoint(channel, now: now)
        }
        guard
            destinations[channel].acknowledged > version || destinations[channel].inFlight != nil
        else { return }
        destinations[channel].echo.signAt = now
        destinations.deadlines.set(channel, at: now)
    }

    /// Returns the channel of an activity that has left memory to the pool. The channel rests while
    /// cards of the activity may exist.
    mutating func release(_ slot: CardSlot, endedAt: Instant, now: Instant) {
        guard let destination = destinations.at(slot), let device = devices[destination.device],
            let channel = device.channel, channel.name == nil, !channel.isGone,
            let upstream = configuration.upstream(of: channel)
        else { return }
        devices[known: destination.device].channel?.activity = nil
        devices[known: destination.device].channel?.restsUntil = endedAt + activityLifeMax
        writeDevice(destination.device)
        channels[upstream].release(
            destination.device, restsUntil: clock.shownAt(endedAt, now: now) + activityLifeMax)
    }
}
