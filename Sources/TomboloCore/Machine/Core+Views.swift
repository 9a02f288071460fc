import TomboloJSON

// Views for readers. They show only durable values.

extension Core {
    /// An activity with the present frame of its clip; nil if it is unknown, or not durable yet.
    package func view(_ key: ActivityKey, now: Instant) -> ActivityView? {
        activities.slot(of: key).flatMap { view(at: $0, now: now) }
            ?? activities.damaged(key).map { ActivityView($0) }
    }

    /// The id of the activity with this number; nil if it is unknown or another tenant's.
    package func name(of number: ActivityNumber, tenant: TenantID) -> Identifier? {
        guard let slot = activities.slot(of: number) else {
            return activities.damagedName(of: number, tenant: tenant)
        }
        return activities[slot].key.tenant == tenant ? activities[slot].key.id : nil
    }

    /// The number of the activity with this id; nil if the activity is not in memory.
    package func number(of key: ActivityKey) -> ActivityNumber? {
        activities.slot(of: key).map { activities[$0].number }
    }

    func view(at slot: ActivitySlot, now: Instant) -> ActivityView? {
        let activity = activities[slot]
        guard let durable = activity.durable else { return nil }
        let state = durable.state(at: wall(now))
        return ActivityView(
            key: activity.key, number: activity.number, incarnation: activity.durableIncarnation,
            type: activity.definition.type, app: activity.definition.app, status: status(slot),
            version: durable.version, seq: activity.seq, tenantSeq: activity.tenantSeq,
            state: state, relevance: durable.relevance,
            staleAt: durable.staleDate,
            clip: durable.clip.map { ClipView($0, at: wall(now)) },
            destinations: activity.destinations.compactMap { index in
                guard let destination = destinations.at(index),
                    destination.incarnation == activity.durableIncarnation
                else { return nil }
                return destinationView(destination, durable, now: now)
            },
            startedAt: activity.definition.startedAt, changedAt: durable.changedAt,
            endedAt: durable.ending?.at)
    }

    private func destinationView(
        _ destination: Destination, _ projection: Projection, now: Instant
    ) -> DestinationView? {
        guard let device = devices[destination.device] else { return nil }
        let report = device.reports[reference(destination)]
        let counts =
            destination.cursor.map { $0.counts(at: wall(now)) + destination.frames }
            ?? destination.frames
        return DestinationView(
            recipient: device.recipient,
            grant: grantInForce(destination), route: route(destination, device),
            acknowledgedVersion: destination.acknowledged,
            phase: phaseName(destination, now: now),
            lastDelivery: destination.lastDelivery,
            token: TokenStanding(of: destination, in: self),
            waiting: told(
                destination.waiting ?? slowedFrame(destination, now: now), destination.upstream,
                now: now),
            trouble: upstreams[destination.upstream].trouble,
            silence: upstreams[destination.upstream].silence(now: now), frames: counts,
            shown: report,
            shownMatches: report?.receivedState.map {
                isShown($0, projection, destination, now: now)
            },
            card: destination.cardNumber, since: destination.ledger.since,
            follows: destination.final == nil)
    }

    /// How pushes reach a destination, in the API's words; nil if they cannot reach it now.
    func route(_ destination: Destination, _ device: Device) -> String? {
        switch destination.phase {
        case .waiting: startToken(destination) != nil ? "push_to_start" : nil
        case .starting, .startUnknown, .started: "push_to_start"
        case .listening: "channel"
        case .live, .ended:
            destination.token == nil ? nil : device.channel == nil ? "update_token" : "channel"
        case .gone, .lapsed: nil
        }
    }

    /// True if the state in a phone's report equals the projected one, in the app's encoding.
    func isShown(
        _ reported: JSON, _ projection: Projection, _ destination: Destination, now: Instant
    ) -> Bool {
        let activity = activities[destination.activity]
        if let version = types.version(in: reported, activity.definition, activity.key.tenant) {
            // An update that changed nothing was not sent: the phone has the one before it.
            let sent = destination.lastDelivery?.version ?? projection.version
            if version == projection.version || version < sent {
                return version == projection.version
            }
        }
        let state =
            destination.keptAt.map { projection.state(showing: $0) }
            ?? projection.state(at: wall(now))
        let encoded = types.encoded(state, activity.definition, activity.key.tenant)
        return types.isSame(reported, as: encoded, activity.definition, activity.key.tenant)
    }

    /// The decision about the next frame of a clip that the grant slows down. No change waits then.
    private func slowedFrame(_ destination: Destination, now: Instant) -> Decision? {
        guard let cursor = destination.cursor, destination.phase == .live, cursor.due > now else {
            return nil
        }
        let grant = grantInForce(destination).grant
        // A phone that plays a bundle by itself waits for nothing.
        guard cursor.mode == .running, cursor.fit != .bundle else { return nil }
        guard grant.frameInterval > cursor.playing.clip.every else { return nil }
        let isSpacing = grant.frameInterval == grant.spacing
        return .deferred(until: cursor.due, isSpacing ? .spacing : .lowPrioritySpacing)
    }

    /// The decision as answers show it, with wall time. If a push waits for its upstream, the
    /// upstream's present state counts: it may have closed meanwhile, and its next probe sets the
    /// time.
    func told(_ waiting: Decision?, _ upstream: UpstreamNumber, now: Instant) -> Decision? {
        guard case .deferred(let until, let reason)? = waiting else { return waiting }
        guard reason == .upstreamClosed || reason == .streamLimit else {
            return .deferred(until: until.map { wall($0) }, reason)
        }
        let isParked = isParked(upstream)
        return .deferred(
            until: nextTry(upstream, now: now), isParked ? .upstreamClosed : .streamLimit)
    }

    /// True if no destination will decide or send a version before `until`.
    package func isSettled(_ key: ActivityKey, version: Int64, until: Instant) -> Bool {
        guard let slot = activities.slot(of: key), let durable = activities[slot].durable,
            durable.version >= version
        else { return false }
        return activities[slot].destinations.allSatisfy { index in
            guard let destination = destinations.at(index), !destination.isFinished,
                destination.final == nil, destination.acknowledged < version
            else { return true }
            if destination.inFlight != nil || destination.reservation == .pending { return false }
            guard let waiting = destination.waiting else { return false }
            return waiting.until.map { $0 > until }
                ?? (waiting.reason != WaitReason.streamLimit.name)
        }
    }

    /// A device with its tokens. The caller must not show a token in full.
    package func deviceView(_ key: DeviceKey, now: Instant) -> DeviceView? {
        guard let slot = devices.slot(of: key), let device = devices[slot] else { return nil }
        return DeviceView(
            id: key.id, registration: device.registration, budgetClass: device.budgetClass,
            tokens: device.tokens.all.map { name, token in
                TokenView(
                    name: name.text, token: token.value.text, registeredAt: token.registeredAt,
                    doubtedSince: device.doubtsToken(name))
            }.sorted { $0.name < $1.name },
            refused: device.retired.keys.map { device.standing(of: $0) }.filter { standing in
                guard case .activity(let card) = standing.name else { return true }
                // Dead tokens of cards that are over do not matter any more.
                return device.destinations.contains {
                    destinations.at($0).map({ self.reference($0) }) == card
                }
            }.sorted { $0.name.text < $1.name.text },
            presence: device.heard?.report.map { report in
                PresenceView(
                    report: report, state: device.presence.state,
                    isInFront: device.presence.isInFront(at: now))
            },
            cards: Array(
                device.destinations.compactMap { index in
                    guard let destination = destinations.at(index),
                        !destination.isFinished || isUnreachable(destination, now: now),
                        !activities[destination.activity].hasEnded,
                        activities[destination.activity].definition.audience.includes(
                            user: device.registration.user)
                    else { return nil }
                    let reference = self.reference(destination)
                    return DeviceView.Card(
                        activity: reference.text,
                        needsToken: [.started, .live].contains(destination.phase)
                            && startChannel(destination) == nil,
                        hasToken: device.tokens[.activity(reference)] != nil,
                        since: wall(destination.phaseSince), report: device.reports[reference])
                }.suffix(DeviceView.cardsMax)),
            hasTimelines: timelines.hasSome(for: device.registration.user, key),
            strangers: device.tokens.all.map(\.name).filter {
                $0.mayBeActivityKits.map { !isFor(key, $0) } ?? false
            },
            glance: DeviceGlance(device, slot, in: self, now: now))
    }

    /// The registered devices of a user.
    package func devices(ofUser user: String, tenant: TenantID) -> [Identifier] {
        devices.slots(of: UserKey(tenant: tenant, user: user)).compactMap {
            devices[$0]?.key.id
        }
    }

    /// The activity of the device's newest card; nil if it has no card.
    package func newestActivity(on key: DeviceKey) -> ActivityKey? {
        let slots = devices.slot(of: key).flatMap { devices[$0]?.destinations } ?? []
        let newest = slots.filter(destinations.holds).max {
            destinations[$0].number < destinations[$1].number
        }
        return newest.map { activities[destinations[$0].activity].key }
    }

    /// A tenant's counters, together with its present sizes.
    package func counters(of tenant: TenantID) -> CoreCounters {
        var counters = counters[tenant]
        counters.activitiesLive = activities.running(of: tenant)
        counters.destinations = destinations.count(of: tenant)
        counters.devices = devices.count(of: tenant)
        counters.deadLetters = deadLetters.count(of: tenant)
        counters.pauses = pauses(of: tenant).count
        return counters
    }

    package var storedKeys: [(number: Int64, value: [UInt8])] { keys.stored }
}

/// A device as answers show it.
package struct DeviceView: Sendable {
    package var id: Identifier
    package var registration: DeviceRegistration
    /// The device's own budget class; `standard` if it has none.
    package var budgetClass: BudgetClass
    package var tokens: [TokenView]
    /// Tokens that Apple has refused, until the app registers others.
    package var refused: [TokenStanding] = []
    /// nil if the app has not reported its presence.
    package var presence: PresenceView?
    /// Cards among the newest `cardsMax` that have not ended.
    package var cards: [Card] = []
    /// True if a timeline is for the device or its user.
    package var hasTimelines = false

    /// Names of update tokens that no activity has, and that ActivityKit may have made.
    package var strangers: [TokenName] = []
    /// How the device is now.
    package var glance: DeviceGlance?

    /// Maximum number of cards that are looked at.
    package static let cardsMax = 64

    /// When the relay got the app's last report of a card; nil if there is none.
    package var lastReportAt: Instant? { cards.compactMap(\.report?.heardAt).max() }

    /// One card of a device.
    package struct Card: Sendable {
        /// The card's name, as the app knows it.
        package var activity: String
        /// True if the card has begun and needs an update token of its own.
        package var needsToken: Bool
        package var hasToken: Bool
        /// Wall time since which the card is in its phase.
        package var since: Instant
        /// The app's last report about the card.
        package var report: PhoneReport?
    }
}

/// A device's last presence report, and the state that follows from it now.
package struct PresenceView: Sendable {
    package var report: PresenceReport
    package var state: Presence.State
    package var isInFront: Bool
}

/// One token of a device.
package struct TokenView: Sendable {
    package var name: String
    /// A secret: never show it in full.
    package var token: String
    package var registeredAt: Instant
    /// When the phone's system or app changed, if that may have made the token invalid.
    package var doubtedSince: Instant?
}
