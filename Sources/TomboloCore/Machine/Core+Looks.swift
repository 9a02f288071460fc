// The order of examinations. A change wakes the destinations and surfaces that it affects; these,
// and those whose deadline has come, are examined in turn.

extension Core {
    /// What a call examines.
    enum Reach {
        /// What this step has woken, and what waits at upstreams with free places.
        case turns
        /// Also what is due by now, within the limits for one step.
        case all
    }

    private enum Look {
        /// - Parameter isItsTurn: true if it has waited for a place in its upstream and gets it
        ///   now.
        case card(CardSlot, isItsTurn: Bool)
        case surface(SurfaceSlot, isItsTurn: Bool)
        case presence(DeviceSlot)
        case orphans(DeviceSlot)
        case wish(SurfaceTable.Turn)
        /// The destination whose turn it was does not need it any more.
        case nothing
    }

    /// After this many pushes in a step, what else is due waits for the next step; meanwhile these
    /// pushes are written. With thousands of pushes in one step, they would leave the processor's
    /// caches before they are written, and a late relay would become even slower.
    package static let pushesPerTurnMax = 128

    /// Examines what is woken: first what this step has woken, then what waits at woken upstreams,
    /// then what is due.
    mutating func lookAtWoken(_ reach: Reach, now: Instant, effects: inout Effects) {
        while let look = nextLook(reach, now: now, &effects) {
            switch look {
            case .card(let slot, let isItsTurn):
                evaluate(slot, isItsTurn: isItsTurn, now: now, effects: &effects)
            case .surface(let slot, let isItsTurn):
                evaluateSurface(slot, isItsTurn: isItsTurn, now: now, effects: &effects)
            case .presence(let slot) where devices.traits(slot).isLeaving:
                finishLeaving(slot, now: now)
            case .presence(let slot): presenceChanged(slot, now: now)
            case .orphans(let slot): sweepOrphans(of: slot, now: now)
            case .wish(let wish):
                effects.budget.due.take(grant(wish, now: now) * StepBudget.Cost.look)
            case .nothing: break
            }
        }
    }

    private mutating func nextLook(
        _ reach: Reach, now: Instant, _ effects: inout Effects
    ) -> Look? {
        if let slot = destinations.popWoken() { return .card(slot, isItsTurn: false) }
        if !effects.budget.turns.isSpent, let turn = nextTurn(now: now) {
            effects.budget.turns.take(StepBudget.Cost.look)
            return turn
        }
        guard reach == .all, !effects.budget.due.isSpent else { return nil }
        effects.budget.due.take(StepBudget.Cost.look)
        if let slot = channels.popWoken() { return .card(slot, isItsTurn: false) }
        guard effects.pushes.count < Self.pushesPerTurnMax else { return nil }
        if let wish = surfaces.popWish() { return .wish(wish) }
        return nextDue(now: now)
    }

    /// What has been due for the longest time, of any kind, so that a late relay serves all kinds.
    private mutating func nextDue(now: Instant) -> Look? {
        let (card, surface, presence, orphans) = (
            destinations.deadlines.first ?? .distantFuture,
            surfaces.deadlines.first ?? .distantFuture,
            devices.deadlines.first ?? .distantFuture,
            devices.orphanDeadlines.first ?? .distantFuture
        )
        let first = min(card, surface, presence, orphans)
        guard first <= now else { return nil }
        if presence == first { return devices.deadlines.pop(until: now).map { .presence($0) } }
        if card == first, let slot = destinations.deadlines.pop(until: now) {
            guard let all = inTurn(slot, now: now) else { return .card(slot, isItsTurn: false) }
            for slot in all { destinations.wakeFirst(slot) }
            return .nothing
        }
        if surface == first, let slot = surfaces.deadlines.pop(until: now) {
            return .surface(slot, isItsTurn: false)
        }
        return devices.orphanDeadlines.pop(until: now).map { .orphans($0) }
    }

    /// What gets the next free place at a woken upstream. It sends its newest state.
    private mutating func nextTurn(now: Instant) -> Look? {
        while let upstream = upstreams.firstWoken {
            guard upstreams[upstream].isOpen(now: now),
                let next = upstreams[upstream].nextWaiting()
            else {
                upstreams.popWoken()
                continue
            }
            switch next {
            case .moved: return .nothing
            case .turn(.surface(let slot)):
                surfaces[slot].isQueued = false
                return .surface(slot, isItsTurn: true)
            case .turn(.card(let slot)):
                // The slot may be vacant or belong to another destination.
                guard destinations.holds(slot), destinations[slot][.isQueued] else {
                    return .nothing
                }
                destinations[slot][.isQueued] = false
                return .card(slot, isItsTurn: true)
            }
        }
        return nil
    }
}
