// What is left of budgets, for operators.

extension Core {
    /// The budgets of the unfinished destinations, in the order of their places.
    ///
    /// - Parameter after: begin after this place.
    package func budgets(
        of tenant: TenantID, activity: Identifier?, device: Identifier?, after: BudgetPlace? = nil,
        limit: Int, now: Instant
    ) -> [BudgetView] {
        var page: [(place: BudgetPlace, slot: CardSlot)] = []
        for slot in destinations.indices {
            guard let destination = destinations.at(slot), !destination.isFinished,
                let owner = devices[destination.device]
            else { continue }
            let key = activities[destination.activity].key
            guard key.tenant == tenant, activity == nil || activity == key.id,
                device == nil || device == owner.key.id
            else { continue }
            let place = BudgetPlace(
                activity: key.id, incarnation: destination.incarnation, device: owner.key.id)
            // Fast path: the page is in order, so most destinations end here.
            if page.count >= limit, let last = page.last, last.place < place { continue }
            if let after, place <= after { continue }
            page.insert((place, slot), at: page.firstIndex { place < $0.place } ?? page.count)
            if page.count > limit { page.removeLast() }
        }
        return page.compactMap { place, slot in
            guard let destination = destinations.at(slot), let owner = devices[destination.device]
            else { return nil }
            return budget(of: destination, at: place, slot, owner, now: now)
        }
    }

    private func budget(
        of destination: Destination, at place: BudgetPlace, _ slot: CardSlot, _ owner: Device,
        now: Instant
    ) -> BudgetView {
        let force = grantInForce(destination)
        let nested = deviceBudget(destination.device, force.grant)
        let next = destination.pacing.lastSend + force.grant.spacing
        let closing = closing(.latest(.high), slot, now: now)
        let starts = devices.budgets[destination.device].starts
        return BudgetView(
            place: place, activity: activities[destination.activity].key.id,
            device: owner.key.id, grant: force,
            left: force.grant.perHour == nil
                ? nil : destination.pacing.bucket.left(force.grant, now: now),
            deviceLeft: nested.map { $0.spent.bucket.left($0.grant, now: now) },
            startsLeft: owner.channel == nil
                ? starts.left(configuration.budgets[.start], now: now) : nil,
            phone: phoneBudget(destination, force.grant, now: now),
            nextAt: next > now ? wall(next) : nil,
            highAt: closing.map { wall(max($0.until, next)) },
            waiting: told(destination.waiting, destination.upstream, now: now),
            trouble: upstreams[destination.upstream].trouble)
    }

    /// The budgets of the widgets and controls that have ever needed a reload.
    package func surfaceBudgets(
        of tenant: TenantID, device: Identifier?, limit: Int, now: Instant
    ) -> [SurfaceBudgetView] {
        var views: [SurfaceBudgetView] = []
        for surface in surfaces where views.count < limit {
            guard let owner = devices[surface.device], owner.key.tenant == tenant,
                device == nil || device == owner.key.id
            else { continue }
            let budgetClass: BudgetClass = surface.name == .widget ? .widget : .control
            let grant = configuration.budgets[budgetClass]
            let next = max(surface.lastSend + grant.spacing, surface.backOffUntil)
            views.append(
                SurfaceBudgetView(
                    device: owner.key.id, surface: surface.name.text, budgetClass: budgetClass,
                    left: grant.perHour == nil ? nil : surface.bucket.left(grant, now: now),
                    nextAt: next > now ? wall(next) : nil, isWanted: surface.phase != .idle))
        }
        return views
    }
}

/// What is left of one destination's budget.
package struct BudgetView: Sendable {
    /// The destination's place in the list; the next page begins after it.
    package var place: BudgetPlace
    package var activity: Identifier
    package var device: Identifier
    package var grant: GrantInForce
    /// Number of pushes with priority 10 that are left; nil if no budget limits them.
    package var left: Int64?
    /// The same for all activities of the device.
    package var deviceLeft: Int64?
    /// Number of starts that are left on the device; nil for a channel.
    package var startsLeft: Int64?
    /// An estimate of what the phone's own budget has left.
    package var phone: PhoneBudget?
    /// When the spacing allows the next push (an end may come before); nil: now.
    package var nextAt: Instant?
    /// When a change of high urgency may have priority 10; nil: now. Until then the rest is
    /// reserved for alerts.
    package var highAt: Instant?
    package var waiting: Decision?
    /// Why the app's upstream is closed; nil if it is open.
    package var trouble: String?
}

/// What is left of the budget of a widget or a control.
package struct SurfaceBudgetView: Sendable {
    package var device: Identifier
    /// The token's name: `widget`, `control:KIND`.
    package var surface: String
    package var budgetClass: BudgetClass
    package var left: Int64?
    package var nextAt: Instant?
    /// True if a reload waits or is in flight.
    package var isWanted: Bool
}
