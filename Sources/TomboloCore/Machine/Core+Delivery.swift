import TomboloJSON

// What a destination wants, whether it may have it now, and the push that gives it.

extension Core {
    /// Something that a destination wants, or why it wants nothing now.
    enum Want {
        case push(Push.Event, Wish, alert: Projection.PendingAlert?)
        /// Nothing before this instant, and nothing holds it.
        case later(Instant?)
        case held(Hold, until: Instant?)
        /// The newest state needs no push.
        case skip(EventDecision)
        /// A card that was never begun need not be ended.
        case annihilated
    }

    /// Looks at one destination anew, sends what may go, and sets its deadline for the rest.
    ///
    /// - Parameter isItsTurn: it has waited for a place in its lane, and this is the place.
    mutating func evaluate(
        _ slot: CardSlot, isItsTurn: Bool = false, now: Instant, effects: inout Effects
    ) {
        guard destinations.holds(slot) else { return }
        if workNote != nil {
            noteWork(on: activities[destinations[slot].activity].number)
        }
        let lane = destinations[slot].lane
        if let until = destinations[slot].inFlightUntil, until <= now {
            expireInFlight(slot, now: now, effects: &effects)
        }
        let successor = age(slot, now: now)
        if let until = seekChannel(slot, now: now, effects: &effects) {
            rest(slot, until: until, .deferred(until: until, .channel), now: now)
            return
        }
        look(slot, isItsTurn, now: now, effects: &effects)
        if let end = startWaitEnd(slot, now: now), end > now {
            destinations.deadlines.set(
                slot, at: Instant.earlier(destinations.deadlines.at(slot), end))
        }
        if let successor { evaluate(successor, now: now, effects: &effects) }
        if withdraw(slot, now: now) { serve(lane, now: now, effects: &effects) }
    }

    private mutating func look(
        _ slot: CardSlot, _ isItsTurn: Bool, now: Instant, effects: inout Effects
    ) {
        // Twice at most: an unchanged state or an expired alert may uncover the next want.
        for _ in 0..<(Alert.waitingMax + 2) {
            switch want(slot, now: now) {
            case .push(let event, let wish, let alert):
                attempt(slot, event, wish, alert, isItsTurn, now: now, effects: &effects)
                return
            case .later(let instant):
                rest(slot, until: instant, nil, now: now)
                return
            case .held(let hold, let until):
                rest(slot, until: until, .deferred(until: until, hold), now: now)
                return
            case .skip(let decision): skip(slot, decision, now: now)
            case .annihilated:
                decideRest(slot, .annihilated, now: now)
                enter(.ended, slot, now: now)
                rest(slot, until: nil, nil, now: now)
                return
            }
        }
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
        markDirty(slot, mayWait: true, now: now)
    }

    mutating func enter(_ phase: Destination.Phase, _ slot: CardSlot, now: Instant) {
        guard destinations[slot].enter(phase, now: now) else { return }
        if phase == .live { tell(.began, at: slot, now: now) }
        if phase == .ended || phase == .listening { closeCursor(slot, now: now) }
        // Frames are asked for all the same.
        if phase.hasNoCard, destinations[slot].hasCursor {
            let wall = wall(now)
            destinations[slot].playing.enter(.noRoute, now: now, wall: wall)
        }
        markDirty(slot, now: now)
    }

    /// Whether a destination may have to be looked at before an instant for its card's sake. Most
    /// have a frame to show long before that.
    private func ages(_ slot: CardSlot, before instant: Instant?) -> Bool {
        guard destinations.holds(slot), let since = destinations[slot].cardSince else {
            return false
        }
        guard let instant else { return true }
        let end = clock.steady(since + configuration.limits.cardLife)
        guard instant > end - configuration.limits.renewBefore else { return false }
        return agesAt(slot).map { $0 < instant } ?? false
    }

    func projection(_ slot: CardSlot) -> Projection? {
        guard destinations.holds(slot) else { return nil }
        if destinations[slot].hasFinal { return destinations[slot].final }
        return activities[destinations[slot].activity].durable
    }

    // MARK: What it wants

    private mutating func want(_ slot: CardSlot, now: Instant) -> Want {
        guard let projection = projection(slot) else { return .later(nil) }
        // What nearly all are that are looked at: nothing of it is copied.
        if destinations[slot].phase == .live, projection.ending == nil {
            return wantOfCard(slot, projection, now: now)
        }
        guard let destination = destinations.at(slot) else { return .later(nil) }
        if destination.phase.hasNoCard { trackClip(slot, projection, now: now) }
        if destination.isFinished {
            decideRest(
                slot, destination.phase == .listening ? .onChannel : destination.noRoute, now: now)
            return wantEchoOfEnd(slot, now: now)
        }
        if destination.phase == .waiting, projection.ending == nil,
            let end = startWaitEnd(slot, now: now), end <= now
        {
            // What it would ring for is no news any more.
            setHoldsStartToken(slot, false)
            destinations[slot].startWasSkipped = true
            return giveUp(slot, because: .startWait, now: now)
        }
        if isPaused(slot) { return .held(.paused, until: destination.inFlight?.until) }
        if let ending = projection.ending {
            return wantAfterEnd(slot, destination, projection, ending, now: now)
        }
        if let flying = destination.inFlight { return .held(.inFlight, until: flying.until) }
        switch destination.phase {
        case .waiting:
            if hasLostPlace(destination) { return giveUp(slot, because: .noRoute, now: now) }
            return wantStart(
                destination, projection, areAlertsPaused: areAlertsPaused(slot), wall: wall(now))
        case .starting, .started:
            let hold = withoutToken(destination, now: now)
            return .held(hold, until: hold == .stranded ? nil : strandedAt(destination))
        case .startUnknown:
            let deadline = destination.phaseSince + configuration.limits.startDeadline
            if now < deadline { return .held(.unknownStart, until: deadline) }
            let policy = activities[destination.activity].definition.onUnknownStart
            if policy == .resend {
                // The second try has a wait of its own.
                destinations[slot].startWaitsSince = wall(now)
                enter(.waiting, slot, now: now)
                // The one case in which an alert may be seen twice.
                destinations[slot].alertsThrough = 0
                return .held(.startToken, until: now)
            }
            // On a channel a card needs nothing more of its own.
            if startChannel(destination) != nil {
                enter(.listening, slot, now: now)
                decideRest(slot, .onChannel, now: now)
                return .later(nil)
            }
            return giveUp(slot, because: .noRoute, now: now)
        case .live, .ended, .gone, .lapsed, .listening: return .later(nil)
        }
    }

    /// Of a card that is there. Whatever holds pushes back: frames that are asked for meanwhile are
    /// counted for what holds them.
    private mutating func wantOfCard(_ slot: CardSlot, _ projection: Projection, now: Instant)
        -> Want
    {
        let (isOver, isRunning) = destinations[slot].clipState(at: wall(now))
        trackClip(slot, projection, now: now)
        let inFlightUntil = destinations[slot].inFlightUntil
        if isPaused(slot) { return .held(.paused, until: inFlightUntil) }
        if let inFlightUntil { return .held(.inFlight, until: inFlightUntil) }
        var turn: BoundValue.Turn?
        if types.hasBindings, destinations[slot].bound != nil,
            let (binding, every) = followPresence(slot, now: now)
        {
            turn = destinations[slot].bound?.turn(of: binding, now: now, every: every)
        }
        let want = wantLive(
            slot, projection, playedOn: isRunning && !isOver, moves: turn?.isOnWay ?? false,
            now: now)
        guard case .later(let instant) = want, let turn else { return want }
        switch turn {
        case .due(let wish): return .push(.update, wish, alert: nil)
        case .later(let next): return .later(Instant.earlier(instant, next))
        }
    }

    /// No card begins here.
    private mutating func giveUp(
        _ slot: CardSlot, because reason: EventDecision, now: Instant
    ) -> Want {
        loseAlerts(slot, now: now)
        enter(.gone, slot, now: now)
        decideRest(slot, reason, now: now)
        return .later(nil)
    }

    private func wantStart(
        _ destination: Destination, _ projection: Projection, areAlertsPaused: Bool, wall: Instant
    ) -> Want {
        // It has ended, as the disk is about to know: no card begins with what the next one says.
        if activities[destination.activity].isToBeginAnew { return .held(.reserving, until: nil) }
        guard activities[destination.activity].definition.route != .adopt else {
            return .held(.updateToken, until: nil)
        }
        guard startToken(destination) != nil else { return .held(.startToken, until: nil) }
        // A start alerts: it waits with the alerts.
        if areAlertsPaused { return .held(.paused, until: nil) }
        // One that rang with a card before this one does not ring again.
        let alert = projection.alert.flatMap {
            $0.version > destination.alertsThrough && !isOnItsWay($0, onChannelOf: destination)
                ? $0 : nil
        }
        return .push(.start, .start, alert: alert.map { $0.expiresAt > wall ? $0 : $0.silent })
    }

    /// When a start that waits is not sent any more, whatever holds it: a budget, a token, a pause
    /// or the upstream (pacing rule 5). Nil where no push is to begin a card, and where the card
    /// takes another one's place: that one stays until then, and nothing rings.
    private func startWaitEnd(_ slot: CardSlot, now: Instant) -> Instant? {
        guard destinations.holds(slot), destinations[slot].phase == .waiting else { return nil }
        let definition = activities[destinations[slot].activity].durableDefinition
        guard definition.route != .adopt,
            destinations[slot].renewal == 0
                || destinations.at(slot).map({ predecessor(of: $0) == nil }) ?? false
        else { return nil }
        return clock.shownAt(destinations[slot].startWaitsSince, now: now) + definition.startWait
    }

    func startToken(_ destination: Destination) -> PushToken? {
        let type = activities[destination.activity].definition.type
        return devices[destination.device]?.tokens[.start(type: type)]?.value
    }

    private mutating func wantAfterEnd(
        _ slot: CardSlot, _ destination: Destination, _ projection: Projection,
        _ ending: Projection.Ending, now: Instant
    ) -> Want {
        switch destination.phase {
        // An app may have begun its card itself, and tell of it later.
        case .waiting where activities[destination.activity].definition.route != .adopt:
            return .annihilated
        case .waiting, .starting, .startUnknown, .started:
            // No card outlives its activity by more: the system has taken it away by then.
            let deadline = clock.shownAt(ending.at, now: now) + activityLifeMax
            if now < deadline { return .held(.updateToken, until: deadline) }
            loseAlerts(slot, now: now)
            enter(.gone, slot, now: now)
            decideRest(slot, .expired, now: now)
            return .later(nil)
        case .live:
            // An end waits for no push in flight, but is not sent beside itself.
            if let flying = destination.inFlight, flying.event == .end {
                return .held(.inFlight, until: flying.until)
            }
            return .push(.end, .end, alert: alertOfEnd(slot, projection, now: now))
        case .ended, .gone, .lapsed, .listening: return .later(nil)
        }
    }

    /// The newest alert that still waits rides on the end's push. Those before it are not sent.
    private mutating func alertOfEnd(
        _ slot: CardSlot, _ projection: Projection, now: Instant
    ) -> Projection.PendingAlert? {
        let riding = projection.alert.flatMap {
            $0.version > destinations[slot].alertsThrough && $0.expiresAt > wall(now)
                && !areAlertsPaused(slot) ? $0 : nil
        }
        loseAlerts(slot, before: riding?.version ?? .max, now: now)
        return riding
    }

    /// - Parameters:
    ///   - playedOn: frames went until now: one that was lost is made good by the next.
    ///   - moves: a value that follows presence is on its way: the next step makes good as well.
    private mutating func wantLive(
        _ slot: CardSlot, _ projection: Projection, playedOn: Bool, moves: Bool, now: Instant
    ) -> Want {
        if let alert = waitingAlert(slot, now: now) { return .push(.update, .must, alert: alert) }
        let urgency = projection.urgency
        let owesTrailing = destinations[slot].owesTrailing
        if destinations[slot].acknowledged < projection.version {
            if !owesTrailing, let skip = skip(slot, projection, now: now) { return .skip(skip) }
            let settles = destinations[slot].settlesAt(time(now), configuration.limits)
            let isOld = settles.map { $0 <= now } ?? false
            return .push(.update, .latest(isOld ? .high : urgency), alert: nil)
        }
        let hasCursor = destinations[slot].hasCursor
        if owesTrailing, !moves,
            projection.clip == nil
                || hasCursor && destinations[slot].playing.hasShownEnd
        {
            return .push(.update, .trailing, alert: nil)
        }
        let (isOver, isRunning) = destinations[slot].clipState(at: wall(now))
        // A bundle is all there is, and no frame follows it; behind an app in front it waits.
        let isMadeGood = moves || playedOn && !(isRunning && destinations[slot].isBundle)
        let settles = isMadeGood ? nil : settleDue(slot, now: now)
        if let settles, settles <= now { return .push(.update, .settle, alert: nil) }
        let stale = destinations[slot].staleRefresh(projection, at: time(now))
        if let stale, stale <= now { return .push(.update, .latest(.low), alert: nil) }
        let echo =
            isMadeGood
            ? nil
            : destinations[slot].echoDue(projection, at: time(now), configuration.limits)
        if let echo, echo <= now { return .push(.update, .echo, alert: nil) }
        let refresh = Instant.earlier(settles, Instant.earlier(stale, echo))
        guard let clip = projection.clip, hasCursor else { return .later(refresh) }
        // The last value is a state: no gate holds it.
        if isOver {
            if destinations[slot].playing.hasShownEnd { return .later(refresh) }
            return isUnchanged(slot, projection, now: now)
                ? .skip(.unchanged) : .push(.update, .latest(urgency), alert: nil)
        }
        guard isRunning else {
            return .later(Instant.earlier(refresh, endOfHidden(clip, now: now)))
        }
        return wantFrame(slot, projection, refresh, now: now)
    }

    /// What a destination wants whose clip runs, and that has all else.
    private func wantFrame(
        _ slot: CardSlot, _ projection: Projection, _ refresh: Instant?, now: Instant
    ) -> Want {
        // So slow a loop is no animation, and costs pushes all the same.
        if destinations[slot].playing.fit != .bundle,
            grantInForce(slot).grant.frameInterval > configuration.limits.frameIntervalMax
        {
            // What plays once has a last value for all that.
            let end = destinations[slot].playing.end(now: now, wall: wall(now))
            return .later(Instant.earlier(refresh, end))
        }
        let due = destinations[slot].playing.due
        guard due <= now else { return .later(Instant.earlier(refresh, due)) }
        // After a restart, or a frame that was late, its turn comes before the next is asked for.
        if let next = destinations[slot].playing.nextAsked(now: now, wall: wall(now)) {
            return .later(Instant.earlier(refresh, next))
        }
        if isUnchanged(slot, projection, now: now) { return .skip(.unchanged) }
        // The last value is a state, also where it is shown before the end: none comes after it.
        let isLast = destinations[slot].playing.showsEnd(at: wall(now))
        return .push(.update, isLast ? .latest(projection.urgency) : .frame, alert: nil)
    }

    /// The oldest alert not yet tried here; those past their time are dropped, their state is
    /// `latest`.
    private mutating func waitingAlert(_ slot: CardSlot, now: Instant) -> Projection.PendingAlert? {
        let activity = destinations[slot].activity
        guard !activities[activity].alerts.isEmpty, !destinations[slot].hasFinal else {
            return nil
        }
        for alert in activities[activity].alerts
        where alert.version > destinations[slot].alertsThrough {
            if alert.expiresAt > wall(now) { return areAlertsPaused(slot) ? nil : alert }
            expire(alert, at: slot, now: now)
        }
        return nil
    }

    func contentHash(_ projection: Projection, _ state: JSON) -> UInt64 {
        var hash = ContentHash()
        hash.combine(state.bytes)
        hash.combine(projection.relevance?.bitPattern ?? 0)
        return hash.value
    }
}
