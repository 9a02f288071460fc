import TomboloJSON

// Broadcast channels: creation, look-up and deletion.

extension Core {
    mutating func takeChannelCommand(
        _ command: ChannelCommand, _ ticket: Ticket?, now: Instant
    ) {
        switch command {
        case .made(let channel):
            do throws(Refusal) {
                let kind = try adopt(channel, now: now)
                if let ticket { journal.answer(ticket, Stored(kind)) }
            } catch {
                if let ticket { journal.answerNow(ticket, .refused(error)) }
            }
        case .notMade(let upstream):
            channels[upstream].refused(now: now)
            channels.wake(upstream)
        case .deleting(let key): mark(key, isBeingDeleted: true, ticket)
        case .kept(let key): mark(key, isBeingDeleted: false, ticket)
        case .deleted(let key):
            guard let ticket else { return }
            guard let slot = channels.slot(of: key), let number = devices[slot]?.channel?.number
            else {
                journal.answerNow(ticket, .refused(.unknownChannel(key.name)))
                return
            }
            for destination in devices[slot]?.destinations ?? [] { removeDestination(destination) }
            devices.remove(slot)
            channels.set(key, nil)
            journal.erase(.channel, number)
            journal.answer(ticket, Stored(.deleted))
        }
    }

    /// Marks a channel as being deleted, or as usable again. A channel with an activity cannot be
    /// deleted: the ticket is refused.
    private mutating func mark(
        _ key: ChannelKey, isBeingDeleted: Bool, _ ticket: Ticket?
    ) {
        guard let ticket else { return }
        guard let slot = channels.slot(of: key), devices[slot]?.channel != nil else {
            journal.answerNow(ticket, .refused(.unknownChannel(key.name)))
            return
        }
        if isBeingDeleted, let activity = carried(by: key) {
            let message =
                "the channel \"\(key.name)\" carries \"\(activity.key.id)\"; end that first: once "
                + "its end has gone, the channel is free"
            journal.answerNow(ticket, .refused(Refusal(.channelInUse, message)))
            return
        }
        devices[known: slot].channel?.isBeingDeleted = isBeingDeleted
        if let record = devices[slot]?.channel?.record() { journal.write(record) }
        journal.answer(ticket, Stored(.updated))
    }

    private mutating func adopt(
        _ made: Channel, now: Instant
    ) throws(Refusal) -> Stored.Kind {
        var channel = made
        if let name = channel.name,
            channels.slot(of: ChannelKey(tenant: channel.tenant, name: name)) != nil
        {
            throw Refusal(.preconditionFailed, "the channel \"\(name)\" is there already")
        }
        channel.number = channels.coming
        channel.createdAt = wall(now)
        journal.write(channel.record())
        journal.flushNow()
        let slot = place(channel)
        guard channel.name == nil, let upstream = configuration.upstream(of: channel) else {
            return .created
        }
        channels[upstream].made(slot)
        channels.wake(upstream)
        return .created
    }

    private mutating func place(_ channel: Channel) -> DeviceSlot {
        channels.skip(channel.number)
        var registration = DeviceRegistration()
        registration.app = channel.app
        registration.environment = channel.environment
        var device = Device(
            key: DeviceKey(tenant: channel.tenant, id: channel.label), number: -channel.number,
            registration: registration)
        device.channel = channel
        let slot = devices.insert(device)
        if let name = channel.name {
            channels.set(ChannelKey(tenant: channel.tenant, name: name), slot)
        }
        return slot
    }

    /// Restores a channel from its record. Returns a text for each fault of the record.
    ///
    /// - Parameter restoredAt: time of the backup's restore, if any. An activity may have used the
    ///   channel after the backup was made, and its cards may still listen.
    mutating func adoptChannel(_ record: Record, restoredAt: Instant?, now: Instant) -> [String] {
        channels.skip(record.number)
        guard let value = record.value else { return [] }
        guard let channel = Channel(record: value, number: record.number) else {
            return ["the record of channel number \(record.number) cannot be read"]
        }
        let slot = place(channel)
        guard channel.name == nil, let upstream = configuration.upstream(of: channel) else {
            return []
        }
        // A channel that Apple does not know counts as used, so that no activity gets it.
        let isUsed =
            channel.isGone || channel.activity.map { activities.slot(of: $0) != nil } ?? false
        var restsUntil = channel.restsUntil
        if let restoredAt, channel.createdAt <= restoredAt {
            restsUntil = max(restsUntil, restoredAt + activityLifeMax)
        }
        channels[upstream].recovered(
            slot, isUsed: isUsed,
            restsUntil: clock.shownAt(restsUntil - activityLifeMax, now: now) + activityLifeMax)
        return []
    }

    /// A tenant's named channels, in order of creation.
    package func channels(of tenant: TenantID) -> [Channel] {
        devices.compactMap { $0?.channel }.filter { $0.tenant == tenant && $0.name != nil }
            .sorted { $0.number < $1.number }
    }

    /// Apple's ids of all channels of an upstream that this relay has made.
    package func channelIDs(in upstream: UpstreamNumber) -> [String] {
        devices.compactMap { $0?.channel }.filter { configuration.upstream(of: $0) == upstream }
            .map(\.id)
    }

    /// A named channel.
    package func channel(_ key: ChannelKey) -> Channel? {
        channels.slot(of: key).flatMap { devices[$0]?.channel }
    }

    /// The activity of a named channel: a running one, or one whose end was not pushed yet.
    package func activity(on key: ChannelKey) -> Identifier? {
        carried(by: key)?.key.id
    }

    private func carried(by key: ChannelKey) -> Activity? {
        guard let slot = channels.slot(of: key) else { return nil }
        let carried = (devices[slot]?.destinations ?? []).compactMap { destinations.at($0) }
            .first { !activities[$0.activity].hasEnded || !$0.isFinished }
        if let carried { return activities[carried.activity] }
        // A start on the channel may be accepted but not durable yet.
        guard audiences.coming.channels[key] != nil else { return nil }
        let start = journal.comingEvents.first {
            $0.event.tenant == key.tenant && $0.definition?.audience == .channel(key.name)
        }
        return start.map { activities[$0.activity] }
    }

    /// Throws a refusal unless the start's channel exists, is usable, and has no other activity. In
    /// a dry run nothing is checked.
    func checkChannel(_ start: Start, _ key: ActivityKey) throws(Refusal) {
        guard !isTrial, case .channel(let name) = start.audience else { return }
        let channel = ChannelKey(tenant: key.tenant, name: name)
        guard let slot = channels.slot(of: channel) else { throw .unknownChannel(name) }
        let state = devices[slot]?.channel
        if state?.isGone == true || state?.isBeingDeleted == true {
            let message =
                state?.isBeingDeleted == true
                ? "is being deleted; create it again when its DELETE has been answered"
                : "is not known to Apple any more; delete it, and create it again"
            throw Refusal(
                .unknownChannel, "the channel \"\(name)\" \(message)",
                errors: [FieldError(pointer: "/audience/channel", message: message)])
        }
        guard let other = carried(by: channel), other.key.id != key.id || other.hasEnded else {
            return
        }
        let message =
            other.hasEnded
            ? "has yet to take the end of \"\(other.key.id)\", with which every card on it ends; "
                + "try again when that has gone"
            : "carries \"\(other.key.id)\": every card on it would get both; end that first"
        throw Refusal(
            .channelInUse, "the channel \"\(name)\" \(message)",
            errors: [FieldError(pointer: "/audience/channel", message: message)])
    }

    /// The pacing for a new destination on a channel. It continues that of the channel's newest
    /// destination, because all activities on a channel share one budget.
    func pacing(on channel: Device) -> PacingState {
        var pacing = PacingState()
        let before = channel.destinations.compactMap { destinations.at($0) }
            .max { $0.number < $1.number }
        if let before { pacing = before.pacing }
        pacing.holdsToken = false
        pacing.unsettledSince = nil
        return pacing
    }

    /// True if a newer activity uses the destination's named channel: no more pushes of the older
    /// one.
    func isSucceeded(_ destination: Destination) -> Bool {
        guard devices.traits(destination.device).isChannel,
            let channel = devices[destination.device], channel.channel?.name != nil
        else { return false }
        return channel.destinations.contains {
            destinations.at($0).map { $0.number > destination.number } ?? false
        }
    }

    /// Apple does not know the channel any more: stops all pushes to the channel.
    mutating func channelGone(_ slot: CardSlot, now: Instant) {
        destinations[slot].token = nil
        enter(.gone, slot, now: now)
        let device = destinations[slot].device
        guard devices[device]?.channel?.isGone == false else { return }
        devices[known: device].channel?.isGone = true
        writeDevice(device)
        // The other destinations on the channel cannot get pushes either.
        for other in devices[device]?.destinations ?? []
        where !destinations[other].isFinished {
            destinations[other].token = nil
            enter(.gone, other, now: now)
            destinations.deadlines.set(other, at: now)
        }
    }
}
