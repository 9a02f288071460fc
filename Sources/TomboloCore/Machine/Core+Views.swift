import TomboloJSON

// What readers see: only what is durable.

extension Core {
    /// An activity with its clip sampled now; nil for one that is not there, or not durable yet.
    package func view(_ key: ActivityKey, now: Instant) -> ActivityView? {
        activityByKey[key].flatMap { view($0, now: now) } ?? damagedView(key)
    }

    /// The id behind a number; nil for another tenant's.
    package func name(of number: ActivityNumber, tenant: TenantID) -> Identifier? {
        guard let slot = activityByNumber[number] else {
            return damaged.isEmpty ? nil : damagedName(of: number, tenant: tenant)
        }
        return activities[slot].key.tenant == tenant ? activities[slot].key.id : nil
    }

    /// The number behind an id, if the activity is in memory.
    package func number(of key: ActivityKey) -> ActivityNumber? {
        activityByKey[key].map { activities[$0].number }
    }

    /// Activities of a tenant in the order of their ids.
    package func views(
        of tenant: TenantID, status: ActivityStatus?, type: String?, user: String?,
        after: Identifier?, limit: Int, now: Instant
    ) -> (views: [ActivityView], next: Identifier?) {
        var page: [Int] = []
        for slot in activities.indices {
            let activity = activities[slot]
            let id = activity.key.id
            // The page is kept in order and one longer than asked for: most activities end at this
            // comparison.
            if page.count > limit, let last = page.last, activities[last].key.id < id { continue }
            guard activity.key.tenant == tenant, activity.durable != nil else { continue }
            if let after, id <= after { continue }
            if let type, type != activity.definition.type { continue }
            if let user, !isFor(user, activity) { continue }
            if let status, status != self.status(slot) { continue }
            page.insert(slot, at: place(of: id, in: page))
            if page.count > limit + 1 { page.removeLast() }
        }
        var views = page.compactMap { view($0, now: now) }
        if status == nil || status == .damaged, user == nil {
            // Of a page one longer than asked for, the first are those of both.
            views += damagedViews(of: tenant, type: type, after: after, limit: limit + 1)
                .filter { activityByKey[$0.key] == nil }
            views.sort { $0.key.id < $1.key.id }
        }
        let count = min(limit, Self.countOfPage(views))
        let isMore = views.count > count
        views = Array(views.prefix(count))
        return (views, isMore ? views.last?.key.id : nil)
    }

    /// A page ends where its states come to so many bytes: a thousand of 4 KB took the loop 10 ms.
    package static let pageBytesMax = 1 << 20

    /// How many views are within `pageBytesMax`, one at least.
    private static func countOfPage(_ views: [ActivityView]) -> Int {
        var bytes = 0
        let first = views.firstIndex { view in
            bytes += view.state.bytes.count
            return bytes > pageBytesMax
        }
        return max(1, first ?? views.count)
    }

    /// Where an id belongs in activities that are in order.
    private func place(of id: Identifier, in page: [Int]) -> Int {
        var (low, high) = (0, page.count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore = activities[lent: page[middle]].key.id < id
            (low, high) = isBefore ? (middle + 1, high) : (low, middle)
        }
        return low
    }

    private func view(_ slot: Int, now: Instant) -> ActivityView? {
        let activity = activities[slot]
        guard let durable = activity.durable else { return nil }
        let state = durable.state(at: wall(now))
        return ActivityView(
            key: activity.key, number: activity.number, incarnation: activity.durableIncarnation,
            type: activity.definition.type, app: activity.definition.app, status: status(slot),
            version: durable.version, seq: activity.seq, tenantSeq: activity.tenantSeq,
            state: state, relevance: durable.relevance,
            staleAt: durable.staleAfter.map { durable.changedAt + $0 },
            clip: durable.clip.map { ClipView($0, at: wall(now)) },
            destinations: activity.destinations.compactMap { index in
                guard let destination = destinations[index],
                    destination.incarnation == activity.durableIncarnation
                else { return nil }
                return view(destination, durable, now: now)
            })
    }

    private func view(
        _ destination: Destination, _ projection: Projection, now: Instant
    ) -> DestinationView? {
        guard let device = devices[destination.device] else { return nil }
        let report = device.reports[reference(destination)]
        let counts =
            destination.cursor.map { $0.counts(at: wall(now)) + destination.frames }
            ?? destination.frames
        return DestinationView(
            device: device.key.id, isChannel: device.channel != nil,
            grant: grantInForce(destination), route: route(destination, device),
            acknowledgedVersion: destination.acknowledged, phase: destination.phase.name,
            lastDelivery: destination.lastDelivery,
            waiting: (destination.waiting ?? slowedFrame(destination, now: now)).map(told),
            frames: counts,
            shown: report,
            shownMatches: report?.shownState.map {
                $0.bytes == shown(projection, destination, now: now).bytes
            })
    }

    /// The way to a destination, in the words of the API; nil where there is none for now.
    func route(_ destination: Destination, _ device: Device) -> String? {
        switch destination.phase {
        case .waiting: hasStartRoute(destination) ? "push_to_start" : nil
        case .starting, .startUnknown, .started: "push_to_start"
        case .listening: "channel"
        case .live, .ended:
            destination.token == nil ? nil : device.channel == nil ? "update_token" : "channel"
        case .gone, .lapsed: nil
        }
    }

    /// The projected state as the phone would report it.
    func shown(
        _ projection: Projection, _ destination: Destination, now: Instant
    ) -> JSON {
        let activity = activities[destination.activity]
        let state =
            destination.keptAt.map { projection.state(showing: $0) }
            ?? projection.state(at: wall(now))
        return forPhone(state, activity.definition, activity.key.tenant)
    }

    /// A slowed clip's next frame waits for the grant; readers are told so, although no change
    /// does.
    private func slowedFrame(_ destination: Destination, now: Instant) -> Decision? {
        guard let cursor = destination.cursor, destination.phase == .live, cursor.due > now else {
            return nil
        }
        let grant = grantInForce(destination).grant
        // A phone that plays a bundle waits for nothing.
        guard cursor.mode == .running, cursor.fit != .bundle else { return nil }
        guard grant.frameInterval > cursor.playing.clip.every else { return nil }
        let isSpacing = grant.frameInterval == grant.spacing
        return .deferred(until: cursor.due, isSpacing ? .spacing : .lowPrioritySpacing)
    }

    /// A decision as readers are told it: at the wall's time.
    func told(_ decision: Decision) -> Decision {
        guard case .deferred(let until?, let hold) = decision else { return decision }
        return .deferred(until: wall(until), hold)
    }

    /// Whether nothing more will happen to a version at any destination before an instant.
    package func isSettled(_ key: ActivityKey, version: Int64, until: Instant) -> Bool {
        guard let slot = activityByKey[key], let durable = activities[slot].durable,
            durable.version >= version
        else { return false }
        return activities[slot].destinations.allSatisfy { index in
            guard let destination = destinations[index], !destination.isFinished,
                destination.final == nil, destination.acknowledged < version
            else { return true }
            if destination.inFlight != nil || destination.reservation == .pending { return false }
            guard let waiting = destination.waiting else { return false }
            return waiting.until.map { $0 > until } ?? (waiting.reason != Hold.streamLimit.name)
        }
    }

    /// A device with its tokens; whoever shows it redacts them.
    package func view(_ key: DeviceKey, now: Instant) -> DeviceView? {
        guard let slot = deviceByKey[key], let device = devices[slot] else { return nil }
        return DeviceView(
            id: key.id, registration: device.registration, budgetClass: device.budgetClass,
            tokens: device.tokens.all.map { name, token in
                TokenView(
                    name: name.text, token: token.value.text, registeredAt: token.registeredAt)
            }.sorted { $0.name < $1.name },
            presence: device.heard?.report.map { report in
                PresenceView(
                    report: report, standing: device.presence.standing,
                    isInFront: device.presence.isInFront(at: now))
            })
    }

    /// A tenant's counters, with the sizes of the moment.
    package func counters(of tenant: TenantID) -> CoreCounters {
        var counters = counters[tenant]
        counters.activitiesLive = activities.count { !$0.hasEnded && $0.key.tenant == tenant }
        counters.destinations = destinations.count { destination in
            destination.map { activities[$0.activity].key.tenant == tenant } ?? false
        }
        counters.devices = deviceByKey.keys.count { $0.tenant == tenant }
        return counters
    }

    package var storedKeys: [(number: Int64, value: [UInt8])] {
        keys.sorted { $0.key < $1.key }.map { (number: $0.key, value: $0.value) }
    }
}

/// A device as readers see it.
package struct DeviceView: Sendable {
    package var id: Identifier
    package var registration: DeviceRegistration
    /// In force now.
    package var budgetClass: BudgetClass
    package var tokens: [TokenView]
    /// Nil before the first report.
    package var presence: PresenceView?
}

/// What a device said last of its app, and what it comes to now.
package struct PresenceView: Sendable {
    package var report: PresenceReport
    package var standing: Presence.Standing
    package var isInFront: Bool
}

/// One token of a device.
package struct TokenView: Sendable {
    package var name: String
    /// A secret: it is never shown whole.
    package var token: String
    package var registeredAt: Instant
}
