/// Broadcasts: a card that was started with `input-push-channel` listens on its channel.
extension Phone {
    /// A channel of policy 1 stores its newest message for this time (Apple: "up to 8 hours").
    static let broadcastStorageMax: Duration = .seconds(8 * 3_600)

    /// Takes a broadcast from APNs. A phone without a card on the channel misses it. So does an
    /// offline phone, unless the channel keeps the broadcast until the phone is back online.
    package mutating func receive(
        _ broadcast: AcceptedBroadcast, at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard broadcast.bundleID == configuration.bundleID else { return effects }
        guard isOnline else {
            if broadcast.isStored { storedBroadcasts[broadcast.channelID] = broadcast }
            return effects
        }
        if broadcast.priority < 10, keepsLowPriority {
            lockedBroadcasts[broadcast.channelID] = broadcast
            return effects
        }
        if broadcast.priority == 10 { wake(at: now, &effects) }
        apply(broadcast, at: now, &effects)
        return effects
    }

    /// The app starts an activity that listens on a channel (`Activity.request` with `pushType:
    /// .channel`); this needs no push. Has no effect if there are too many cards.
    package mutating func listen(
        on channelID: String, activityID: String, type: String, state: [UInt8],
        at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard cards.count < Self.cardsMax else { return effects }
        var card = ActivityCard(
            number: nextCardNumber, attributesType: type, activityID: activityID,
            contentState: state, timestamp: now.seconds, at: now)
        nextCardNumber += 1
        card.channelID = channelID
        card.budget = configuration.updateBudget.map {
            TokenBucket(depth: $0.depth, perHour: $0.perHour, at: now)
        }
        drawnCount += 1
        cards.append(card)
        effects.append(.changed(card, .shown))
        effects += advance(to: now)
        return effects
    }

    private mutating func apply(
        _ broadcast: AcceptedBroadcast, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        let push = AcceptedPush(
            apnsID: broadcast.requestID, token: "", topic: .liveActivity(broadcast.bundleID),
            type: .liveActivity, priority: broadcast.priority, expiration: .immediate,
            collapseID: nil, payload: broadcast.payload, acceptedAt: broadcast.acceptedAt)
        let listening = cards.filter { $0.channelID == broadcast.channelID }.map(\.number)
        for number in listening {
            guard let index = cards.firstIndex(where: { $0.number == number }) else { continue }
            do throws(Ignored) {
                try spend(push, on: index, at: now, &effects)
                try change(index, by: push, at: now, &effects)
            } catch {
                note(error, push, at: now, &effects)
            }
        }
    }

    /// Applies the broadcasts of low priority that came while the phone was locked.
    mutating func takeLockedBroadcasts(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        let waiting = lockedBroadcasts.values.sorted { $0.channelID < $1.channelID }
        lockedBroadcasts = [:]
        for broadcast in waiting { apply(broadcast, at: now, &effects) }
    }

    /// Applies the broadcasts that were stored while the phone was offline and have not expired.
    mutating func takeStoredBroadcasts(at now: WallInstant) -> [PhoneEffect] {
        defer { storedBroadcasts = [:] }
        return storedBroadcasts.values.sorted { $0.channelID < $1.channelID }.flatMap {
            broadcast in
            let isKept =
                now - broadcast.acceptedAt < Self.broadcastStorageMax
                && broadcast.expiration.isStorable(at: now, acceptedAt: broadcast.acceptedAt)
            return isKept ? receive(broadcast, at: now) : []
        }
    }
}
