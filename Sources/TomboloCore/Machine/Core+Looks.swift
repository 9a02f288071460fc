// What is looked at next. A change wakes what it is about; what was woken or is due is looked at.

extension Core {
    /// How much of what was woken is looked at.
    enum Reach {
        /// What the step's own event has woken, and who waits at upstreams that have places.
        case turns
        /// And what is due by now, as much as fits into the bounds of a step.
        case all
    }

    private enum Look {
        /// - Parameter isItsTurn: it has waited for a place at its upstream, and this is the place.
        case card(CardSlot, isItsTurn: Bool)
        case surface(SurfaceSlot, isItsTurn: Bool)
        case presence(DeviceSlot)
        case orphans(DeviceSlot)
        case wish(SurfaceTable.Turn)
        /// Who had the turn needs it no more.
        case nothing
    }

    /// With so many pushes in a turn, what else is due waits for the next one: these are written
    /// meanwhile, and the peer works on them while the relay works on the next. Thousands in one
    /// turn would leave the caches between their making and their writing, and the later a relay
    /// is, the slower it would get.
    package static let pushesPerTurnMax = 128

    /// So much is looked at in a turn by itself, and so much in its turn at an upstream. The core
    /// has no clock: this is about 5 ms.
    static let looksPerTurnMax = 2_000

    /// Looks at what was woken: the step's own first, then who waits at an upstream that was woken,
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

    /// What has been due for longest: also a relay that is behind comes to each kind.
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

    /// Who gets the next free place at an upstream that was woken; each takes its newest value now.
    private mutating func nextTurn(now: Instant) -> Look? {
        while let lane = upstreams.firstWoken {
            guard upstreams[lane].isOpen(now: now), let turn = nextWaiting(lane) else {
                upstreams.popWoken()
                continue
            }
            switch turn {
            case .surface(let slot):
                surfaces[slot].isQueued = false
                return .surface(slot, isItsTurn: true)
            case .card(let slot):
                // Its place may have become vacant, or another's.
                guard destinations.holds(slot), destinations[slot].isQueued else { return .nothing }
                destinations[slot].isQueued = false
                return .card(slot, isItsTurn: true)
            }
        }
        return nil
    }

    /// Whose turn it is in a lane. Where no token was ever right, that of a device that was not
    /// tried.
    private mutating func nextWaiting(_ lane: LaneNumber) -> UpstreamTurn? {
        if upstreams[lane].seeksRightToken,
            let turn = upstreams[lane].firstWaiting(where: { !isStranger($0, of: lane) })
        {
            upstreams[lane].takeWaiting(turn)
            return turn
        }
        return upstreams[lane].nextWaiting()
    }
}
