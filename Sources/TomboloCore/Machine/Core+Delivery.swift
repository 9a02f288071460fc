// Examines one destination: what time has changed, what it should send, and whether it may.

extension Core {
    /// Examines one destination, sends its push if allowed, and sets its next deadline.
    ///
    /// - Parameter isItsTurn: true if it has waited for a place in its upstream and gets it now.
    mutating func evaluate(
        _ slot: CardSlot, isItsTurn: Bool = false, now: Instant, effects: inout Effects
    ) {
        guard destinations.holds(slot) else { return }
        if workNote != nil {
            noteWork(on: activities[destinations[slot].activity].number)
        }
        if let until = destinations[slot].inFlightUntil, until <= now {
            expireInFlight(slot, now: now)
        }
        let successor = age(slot, now: now)
        if let until = seekChannel(slot, now: now, effects: &effects) {
            rest(slot, until: until, .deferred(until: until, .channel), now: now)
            return
        }
        // Usually at most two rounds: after a skipped state, the destination may want something
        // else.
        for _ in 0..<(Alert.waitingMax + 2) {
            guard let projection = projection(slot) else {
                rest(slot, until: nil, nil, now: now)
                break
            }
            let followed = follow(slot, projection, now: now)
            let want = want(slot, projection, followed, now: now)
            guard apply(want, slot, isItsTurn, now: now, effects: &effects) else { break }
        }
        if let end = startWaitEnd(slot, now: now), end > now {
            destinations.deadlines.set(
                slot, at: Instant.earlier(destinations.deadlines.at(slot), end))
        }
        if let successor { destinations.wakeFirst(successor) }
        withdraw(slot, now: now)
    }

    /// Carries out what a destination wants. Returns true if it must be asked again.
    private mutating func apply(
        _ want: Want, _ slot: CardSlot, _ isItsTurn: Bool, now: Instant, effects: inout Effects
    ) -> Bool {
        switch want {
        case .push(let event, let wish, let alert):
            // The newest alert goes with the end; older ones are dropped.
            if wish == .end { loseAlerts(slot, before: alert?.version ?? .max, now: now) }
            attempt(slot, event, wish, alert, isItsTurn, now: now, effects: &effects)
            return false
        case .skip(let decision):
            skip(slot, decision, now: now)
            return true
        case .later(let instant): rest(slot, until: instant, nil, now: now)
        case .held(let reason, let until):
            rest(slot, until: until, .deferred(until: until, reason), now: now)
        case .annihilated:
            decideRest(slot, .annihilated, now: now)
            enter(.ended, slot, now: now)
            rest(slot, until: nil, nil, now: now)
        case .giveUp(let reason): giveUp(slot, because: reason, now: now)
        case .resend:
            // The second start may wait as long as the first.
            destinations[slot].startWaitsSince = wall(now)
            enter(.waiting, slot, now: now)
            // The phone may then ring twice for one alert. No other case allows this.
            destinations[slot].alertsThrough = 0
            rest(slot, until: now, .deferred(until: now, .startToken), now: now)
        case .listen:
            enter(.listening, slot, now: now)
            decideRest(slot, .onChannel, now: now)
            rest(slot, until: nil, nil, now: now)
        }
        return false
    }

    private mutating func giveUp(_ slot: CardSlot, because reason: EventDecision, now: Instant) {
        setHoldsStartToken(slot, false)
        // The start's alert is too old as well.
        if reason == .startWait { destinations[slot][.startWasSkipped] = true }
        loseAlerts(slot, now: now)
        enter(.gone, slot, now: now)
        decideRest(slot, reason, now: now)
        rest(slot, until: nil, nil, now: now)
    }

    private mutating func rest(
        _ slot: CardSlot, until instant: Instant?, _ decision: Decision?, now: Instant
    ) {
        wait(slot, decision, now: now)
        destinations.deadlines.set(slot, at: ages(slot, before: instant) ? agesAt(slot) : instant)
    }

    private mutating func skip(_ slot: CardSlot, _ decision: EventDecision, now: Instant) {
        guard let projection = projection(slot) else { return }
        destinations[slot].acknowledged = projection.version
        decide(slot, through: projection.version, decision, now: now)
        let wall = wall(now)
        if destinations[slot].hasCursor {
            destinations[slot].playing.skipUnchanged(now: now, wall: wall)
        }
        scheduleCheckpoint(slot, mayWait: true, now: now)
    }

    mutating func enter(_ phase: Destination.Phase, _ slot: CardSlot, now: Instant) {
        guard destinations[slot].enter(phase, now: now) else { return }
        if phase == .live { tell(.began, at: slot, now: now) }
        if phase == .ended || phase == .listening { closeCursor(slot, now: now) }
        // No start follows. (A refused one keeps its token for a retry.)
        if phase == .live || phase == .started || destinations[slot].isFinished, phase != .gone {
            setHoldsStartToken(slot, false)
        }
        // The clip's frames are still requested: count them as frames without a route.
        if phase.hasNoCard, destinations[slot].hasCursor {
            let wall = wall(now)
            destinations[slot].playing.enter(.noRoute, now: now, wall: wall)
        }
        let device = destinations[slot].device
        if devices.traits(device).isLeaving, destinations[slot].isFinished {
            devices.deadlines.set(device, at: now)
        }
        scheduleCheckpoint(slot, now: now)
    }

    /// True if the card's age requires an examination before `instant`. The quick tests come first,
    /// because clips call this for each frame.
    private func ages(_ slot: CardSlot, before instant: Instant?) -> Bool {
        guard destinations.holds(slot), let since = destinations[slot].cardSince else {
            return false
        }
        guard let instant else { return true }
        let end = clock.lifeEnd(configuration.limits.cardLife, since: since)
        guard instant > end - configuration.limits.renewBefore else { return false }
        return agesAt(slot).map { $0 < instant } ?? false
    }

    func projection(_ slot: CardSlot) -> Projection? {
        guard destinations.holds(slot) else { return nil }
        if destinations[slot].hasFinal { return destinations[slot].final }
        return activities[destinations[slot].activity].durable
    }

    /// Reserves in the pending batch what its events will make cards send, so that these pushes go
    /// as soon as the batch is durable: event and push wait for the disk once. Cards that have
    /// anything else to do wait for another batch.
    mutating func reserveAhead(now: Instant) {
        guard wall(now) <= tellsThrough else { return }
        for activity in journal.changed where activities[activity].paysAhead {
            let projection = activities[activity].accepted
            for slot in activities[activity].destinations {
                guard destinations.holds(slot),
                    destinations[slot].waitsOnly(for: projection.version), !isPaused(slot)
                else { continue }
                let grant = grantInForce(slot).grant
                let through = destinations[slot].alertsThrough
                let alert = projection.alert.flatMap { $0.version > through ? $0 : nil }
                if let alert {
                    // If other alerts wait too, the oldest goes first, later.
                    guard alert.version == projection.version, !areAlertsPaused(slot),
                        activities[activity].alerts.allSatisfy({ $0.version <= through }),
                        activities[activity].comingAlerts.allSatisfy({
                            $0.version <= through || $0.version == alert.version
                        })
                    else { continue }
                } else {
                    // Nothing of a class without a limit goes on record, except alerts.
                    guard grant.perHour != nil else { continue }
                    let visible =
                        destinations[slot].visibleHash == nil ? nil : visibleHash(slot, projection)
                    guard skip(slot, projection, visible: visible, now: now) == nil
                    else { continue }
                }
                let latest = destinations[slot].latestWish(
                    projection.urgency, at: time(now), configuration.limits)
                let turn = destinations[slot].pacing.turn(
                    alert == nil ? latest : .must, grant,
                    device: deviceBudget(destinations[slot].device, grant, for: slot, now: now),
                    now: now, wall: wall(now))
                var paysToken = true
                switch turn {
                case .wait: continue
                case .reserve: break
                case .send(let priority, _):
                    guard alert != nil else { continue }
                    paysToken = priority != 5
                }
                guard hasPlace(slot, false, now: now) else { continue }
                keepPlace(slot, now: now)
                reserve(slot, .update, alert, grant, now: now, token: paysToken)
            }
        }
    }
}

extension Activity {
    /// True if cards may pay for the accepted state before it is durable: it is of the life that
    /// they show, and neither an end nor a clip.
    fileprivate var paysAhead: Bool {
        durable != nil && durableIncarnation == incarnation && accepted.ending == nil
            && accepted.clip == nil
    }
}

extension Destination {
    /// True if the card has nothing to do but to get the state of this version.
    fileprivate func waitsOnly(for version: Int64) -> Bool {
        phase == .live && acknowledged < version && reservation == .none && inFlightUntil == nil
            && !hasFinal && !hasCursor && !self[.isQueued] && !self[.tokenIsNew]
            && !self[.awaitsSuccession]
    }
}
