// The order of evaluations: a change wakes what it concerns, and woken or due things are evaluated.

extension Core {
    /// The extent of an evaluation.
    enum Reach {
        /// What the step's own event has woken, and what waits at upstreams with free places.
        case turns
        /// Also what is due by now, within the bounds of a step.
        case all
    }

    private enum Look {
        /// - Parameter isItsTurn: true if it has waited for a place in its upstream and has it now.
        case card(CardSlot, isItsTurn: Bool)
        case surface(SurfaceSlot, isItsTurn: Bool)
        case presence(DeviceSlot)
        case orphans(DeviceSlot)
        case wish(SurfaceTable.Turn)
        /// The one whose turn it was does not need it any more.
        case nothing
    }

    /// After this number of pushes in a turn, other due things wait for the next one. Meanwhile
    /// these pushes are written, and Apple works on them. Thousands in one turn would leave the
    /// processor's caches before they are written, so that a relay that is late would become
    /// slower.
    package static let pushesPerTurnMax = 128

    /// Evaluations of due things in a turn, and of waiting ones at upstreams. The core has no
    /// clock: this takes about 5 ms.
    static let looksPerTurnMax = 2_000

    /// Evaluates woken things: first those of this step, then those that wait at a woken upstream,
    /// then those that are due.
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
            case .wish(let wish): effects.looks += grant(wish, now: now)
            case .nothing: break
            }
        }
    }

    private mutating func nextLook(
        _ reach: Reach, now: Instant, _ effects: inout Effects
    ) -> Look? {
        if let slot = destinations.popWoken() { return .card(slot, isItsTurn: false) }
        if effects.turns < Self.looksPerTurnMax, let turn = nextTurn(now: now) {
            effects.turns += 1
            return turn
        }
        guard reach == .all, effects.looks < Self.looksPerTurnMax else { return nil }
        effects.looks += 1
        if let slot = channels.popWoken() { return .card(slot, isItsTurn: false) }
        guard effects.pushes.count < Self.pushesPerTurnMax else { return nil }
        if let wish = surfaces.popWish() { return .wish(wish) }
        return nextDue(now: now)
    }

    /// The thing that has been due for longest, so that a late relay serves each kind, too.
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

    /// The next one to get a free place at a woken upstream; it sends its newest value.
    private mutating func nextTurn(now: Instant) -> Look? {
        while let upstream = upstreams.firstWoken {
            guard upstreams[upstream].isOpen(now: now), let turn = nextWaiting(upstream) else {
                upstreams.popWoken()
                continue
            }
            switch turn {
            case .surface(let slot):
                surfaces[slot].isQueued = false
                return .surface(slot, isItsTurn: true)
            case .card(let slot):
                // The slot may be vacant or belong to another destination.
                guard destinations.holds(slot), destinations[slot].isQueued else { return .nothing }
                destinations[slot].isQueued = false
                return .card(slot, isItsTurn: true)
            }
        }
        return nil
    }

    /// The next one that waits at an upstream. If no token was ever right there, one of a device
    /// that has not been tried.
    private mutating func nextWaiting(_ upstream: UpstreamNumber) -> UpstreamTurn? {
        if upstreams[upstream].seeksRightToken,
            let turn = upstreams[upstream].firstWaiting(where: { !isStranger($0, of: upstream) })
        {
            upstreams[upstream].takeWaiting(turn)
            return turn
        }
        return upstreams[upstream].nextWaiting()
    }
}
