import TomboloJSON

// The operator's overview, and lists of what is registered. Nothing here changes the core.

extension Core {
    /// Adds the tenant's running activities in the next slots to the overview.
    ///
    /// - Returns: the slot where the next call begins; nil after the last one.
    package func look(
        _ overview: inout Overview, of tenant: TenantID, from place: Int, now: Instant
    ) -> Int? {
        var (place, looked) = (place, 0)
        while place < activities.count, looked < IDPage.pieceMax / 8 {
            let slot = ActivitySlot(place)
            looked += 1
            defer { place += 1 }
            guard activities[slot].key.tenant == tenant,
                activities[slot].durable != nil,
                activities[slot].durable?.ending == nil
            else { continue }
            if status(slot) == .waiting {
                overview.unreached += 1
                overview.unreachedExample = overview.unreachedExample ?? activities[slot].key.id
            }
            if let projection = activities[slot].durable, let date = projection.staleDate,
                date <= wall(now)
            {
                overview.stale += 1
                if overview.stalest.map({ projection.changedAt < $0.since }) ?? true {
                    overview.stalest = .init(
                        activity: activities[slot].key.id, since: projection.changedAt)
                }
            }
            looked += activities[slot].destinations.count
            for index in activities[slot].destinations { look(at: index, now: now, &overview) }
        }
        if place < activities.count { return place }
        overview.damaged =
            activities.damaged(of: tenant, type: nil, after: nil, limit: 1_000).count
        overview.sort()
        return nil
    }

    private func look(at index: CardSlot, now: Instant, _ overview: inout Overview) {
        guard let destination = destinations.at(index), let device = devices[destination.device],
            let version = activities[destination.activity].durable?.version,
            destination.incarnation == activities[destination.activity].durableIncarnation
        else { return }
        let activity = activities[destination.activity].key.id
        // The app shows this activity in widgets only, so no card is missing.
        if destination.phase == .waiting, device.tokens[.widget] != nil,
            activities[destination.activity].definition.route == .adopt
        {
            return
        }
        if let trouble = trouble(of: destination, index, device, now: now) {
            overview.add(trouble, activity, device.key.id)
        }
        let standing = destination.standing(
            of: version, device, device.reports[reference(destination)],
            isUnreachable: isUnreachable(destination, now: now))
        guard let standing else { return }
        overview.cards[standing] += 1
        guard standing == .behind else { return }
        overview.add(
            Overview.Behind(
                activity: activity, device: device.key.id,
                versions: version - destination.acknowledged,
                budgetClass: grantInForce(destination).budgetClass,
                waiting: told(destination.waiting, destination.upstream, now: now),
                trouble: upstreams[destination.upstream].trouble))
    }

    private func trouble(
        of destination: Destination, _ slot: CardSlot, _ device: Device, now: Instant
    ) -> Overview.Trouble? {
        let report = device.reports[reference(destination)]
        let isRefused = TokenStanding(of: destination, in: self)?.isRefused ?? false
        switch destination.phase {
        case .startUnknown: return .startUnknown
        case .lapsed: return .lapsed
        case .gone where report?.phase == .dismissed && report?.by != "system": return .dismissed
        case .gone where isRefused: return .tokenRefused
        case .ended, .gone, .listening: return nil
        case .waiting, .starting, .started, .live: break
        }
        if let projection = projection(slot), projection.urgency == .high,
            destination.isBehind(projection.version, report, wall: wall(now)),
            closing(.latest(.high), slot, now: now)?.reserve != nil
        {
            return .budgetSpent
        }
        if report?.missesPush == true { return .notShown }
        if let since = report?.frozenSince, since + Overview.drawingMax <= wall(now) {
            return .frozen
        }
        let reason: WaitReason? =
            if case .deferred(_, let reason) = destination.waiting { reason } else { nil }
        switch reason {
        case .startToken, .updateToken, .stranded: return isRefused ? .tokenRefused : .noToken
        case .bucket, .deviceBucket, .startBudget: return .budgetSpent
        default: break
        }
        let grant = grantInForce(destination).grant
        if destination.pacing.bucket.left(grant, now: now) < 1 { return .budgetSpent }
        let since = devices.budgets[destination.device].silentSince
        let hasReported = device.heard != nil || !device.reports.isEmpty
        let patience = hasReported ? Overview.silenceOfReportingMax : Overview.silenceMax
        return device.channel == nil && since <= now - patience ? .silent : nil
    }

    /// Adds the tenant's waiting changes, and its cards by what is known of them, at the next
    /// destinations.
    ///
    /// - Returns: the slot where the next call begins; nil after the last one.
    package func count(
        _ waiting: inout WaitingChanges, _ cards: inout StandingCounts, of tenant: TenantID,
        from place: Int, now: Instant
    ) -> Int? {
        let count = destinations.indices.count
        let end = min(count, place + IDPage.pieceMax / 8)
        for slot in CardSlot(min(place, end))..<Slot(end) where destinations.holds(slot) {
            let activity = destinations[slot].activity
            guard activities[activity].key.tenant == tenant else { continue }
            if let delay = destinations[slot].delay, delay.isOfChange { waiting.add(delay) }
            guard let durable = activities[activity].durable, durable.ending == nil,
                destinations[slot].incarnation == activities[activity].durableIncarnation,
                let device = devices[destinations[slot].device]
            else { continue }
            let standing = destinations[slot].standing(
                of: durable.version, device, device.reports[reference(destinations[slot])],
                isUnreachable: isUnreachable(destinations[slot], now: now))
            if let standing { cards[standing] += 1 }
        }
        return end < count ? end : nil
    }

    // MARK: Lists

    /// Adds the matching activities in the next slots to the page.
    package func collect(_ page: inout IDPage, _ filter: ActivityFilter) {
        guard var place = page.place else { return }
        var looked = 0
        while place < activities.count, looked < IDPage.pieceMax {
            let slot = ActivitySlot(place)
            looked += 1
            defer { place += 1 }
            guard activities[slot].key.tenant == filter.tenant,
                page.takes(activities[slot].key.id), activities[slot].durable != nil
            else { continue }
            if let type = filter.type, type != activities[slot].definition.type { continue }
            if filter.user != nil || filter.status != nil {
                looked += activities[slot].destinations.count
            }
            if let user = filter.user, !isFor(user, activities[slot]) { continue }
            if let status = filter.status, status != self.status(slot) { continue }
            page.insert(activities[slot].key.id)
        }
        page.place = place < activities.count ? place : nil
        guard page.place == nil, filter.user == nil,
            filter.status == nil || filter.status == .damaged
        else { return }
        for one in activities.damaged(
            of: filter.tenant, type: filter.type, after: page.after, limit: page.limit + 1)
        { page.insert(one.traits.key.id) }
    }

    /// The activities of a page after `collect` has read all slots.
    package func views(
        _ page: IDPage, _ filter: ActivityFilter, now: Instant
    ) -> (views: [ActivityView], next: Identifier?) {
        page.views(
            size: { id in
                guard let slot = activities.slot(of: ActivityKey(tenant: filter.tenant, id: id))
                else {
                    return 0
                }
                return (activities[slot].durable?.state.bytes.count ?? 0)
                    + activities[slot].destinations.count * IDPage.cardBytes
            },
            view: { id in
                let view = view(ActivityKey(tenant: filter.tenant, id: id), now: now)
                return view.flatMap { filter.status ?? $0.status == $0.status ? $0 : nil }
            })
    }

    /// A page of the tenant's registered types, by app and then by name.
    package func typeViews(
        of tenant: TenantID, after: (app: String, name: String)?, limit: Int
    ) -> (views: [TypeView], next: (app: String, name: String)?) {
        // A tenant has at most `TypeTable.countMax` types.
        let keys = types.keys(of: tenant).filter { key in
            (after.map { $0 < (key.app, key.name) } ?? true)
        }.sorted { ($0.app, $0.name) < ($1.app, $1.name) }
        var views: [TypeView] = []
        var bytes = 0
        for key in keys {
            guard let view = typeView(key.name, app: key.app, tenant: tenant) else { continue }
            bytes += view.body.bytes.count
            if let last = views.last, views.count == limit || bytes > IDPage.bytesMax {
                return (views, (last.app, last.name))
            }
            views.append(view)
        }
        return (views, nil)
    }
}
