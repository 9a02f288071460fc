import TomboloJSON

// The wants of a destination. Nothing here changes the core except `follow`, which goes first.

extension Core {
    /// A want of a destination, or why it has none now.
    enum Want {
        case push(Push.Event, Wish, alert: Projection.PendingAlert?)
        /// Nothing before this instant; nothing is held.
        case later(Instant?)
        case held(Hold, until: Instant?)
        /// The newest state needs no push.
        case skip(EventDecision)
        /// A card that was never begun need not be ended.
        case annihilated
        /// No card will begin here, or the card cannot get its end any more.
        case giveUp(EventDecision)
        /// Send a start of unknown outcome again.
        case resend
        /// A start of unknown outcome whose card, being on a channel, needs nothing of its own.
        case listen
    }

    /// Facts that an evaluation finds before it asks for the want.
    struct Followed {
        /// Frames were sent until now: the next one replaces a lost one.
        var playedOn = false
        /// The next step of a value that depends on presence; nil without such a value.
        var turn: BoundValue.Turn?
        /// True while such a value is changing: its next step replaces a lost push.
        var moves: Bool { turn?.isOnWay ?? false }
        /// A hash of the visible part of a newer state.
        var visible: UInt64?
    }

    /// Follows the present moment: the projection's clip, presence, and expired alerts. While a
    /// push is held, frames that fall due are counted under the hold's reason.
    mutating func follow(_ slot: CardSlot, _ projection: Projection, now: Instant) -> Followed {
        let phase = destinations[slot].phase
        guard phase == .live, projection.ending == nil else {
            if phase.hasNoCard { trackClip(slot, projection, now: now) }
            if destinations[slot].isFinished {
                let noRoute = destinations.at(slot).map(\.noRoute) ?? .noRoute
                decideRest(slot, phase == .listening ? .onChannel : noRoute, now: now)
            }
            return Followed()
        }
        let (isOver, isRunning) = destinations[slot].clipState(at: wall(now))
        trackClip(slot, projection, now: now)
        var followed = Followed(playedOn: isRunning && !isOver)
        guard !isPaused(slot), destinations[slot].inFlightUntil == nil else { return followed }
        if types.hasBindings, destinations[slot].bound != nil,
            let (binding, every) = followPresence(slot, now: now)
        {
            followed.turn = destinations[slot].bound?.turn(of: binding, now: now, every: every)
        }
        expireAlerts(slot, now: now)
        if destinations[slot].acknowledged < projection.version,
            destinations[slot].visibleHash != nil
        {
            followed.visible = visibleHash(slot, projection)
        }
        return followed
    }

    func want(
        _ slot: CardSlot, _ projection: Projection, _ followed: Followed, now: Instant
    ) -> Want {
        // Fast path: most destinations are live. It copies nothing.
        if destinations[slot].phase == .live, projection.ending == nil {
            return wantOfCard(slot, projection, followed, now: now)
        }
        guard let destination = destinations.at(slot) else { return .later(nil) }
        if destination.isFinished { return wantEchoOfEnd(slot, now: now) }
        if destination.phase == .waiting, projection.ending == nil,
            let end = startWaitEnd(slot, now: now), end <= now
        {
            return .giveUp(.startWait)
        }
        if isPaused(slot) { return .held(.paused, until: destination.inFlight?.until) }
        if let ending = projection.ending {
            return wantAfterEnd(slot, destination, projection, ending, now: now)
        }
        if let flying = destination.inFlight { return .held(.inFlight, until: flying.until) }
        switch destination.phase {
        case .waiting:
            if hasLostPlace(destination) { return .giveUp(.noRoute) }
            return wantStart(
                destination, projection, areAlertsPaused: areAlertsPaused(slot), wall: wall(now))
        case .starting, .started:
            let hold = withoutToken(destination, now: now)
            return .held(hold, until: hold == .stranded ? nil : strandedAt(destination))
        case .startUnknown:
            let deadline = destination.phaseSince + configuration.limits.startDeadline
            if now < deadline { return .held(.unknownStart, until: deadline) }
            let policy = activities[destination.activity].definition.onUnknownStart
            if policy == .resend { return .resend }
            return startChannel(destination) != nil ? .listen : .giveUp(.noRoute)
        case .live, .ended, .gone, .lapsed, .listening: return .later(nil)
        }
    }

    /// The want of a destination with a live card.
    private func wantOfCard(
        _ slot: CardSlot, _ projection: Projection, _ followed: Followed, now: Instant
    ) -> Want {
        let inFlightUntil = destinations[slot].inFlightUntil
        if isPaused(slot) { return .held(.paused, until: inFlightUntil) }
        if let inFlightUntil { return .held(.inFlight, until: inFlightUntil) }
        let want = wantLive(slot, projection, followed, now: now)
        guard case .later(let instant) = want, let turn = followed.turn else { return want }
        switch turn {
        case .due(let wish): return .push(.update, wish, alert: nil)
        case .later(let next): return .later(Instant.earlier(instant, next))
        }
    }

    private func wantStart(
        _ destination: Destination, _ projection: Projection, areAlertsPaused: Bool, wall: Instant
    ) -> Want {
        // The activity has ended, though not durably: no card begins with the next start's state.
        if activities[destination.activity].isToBeginAnew { return .held(.reserving, until: nil) }
        guard activities[destination.activity].definition.route != .adopt else {
            return .held(.updateToken, until: nil)
        }
        guard startToken(destination) != nil else { return .held(.startToken, until: nil) }
        // A start has an alert, so a pause of alerts holds it.
        if areAlertsPaused { return .held(.paused, until: nil) }
        // An alert that has rung with an earlier card is not repeated.
        let alert = projection.alert.flatMap {
            $0.version > destination.alertsThrough && !isOnItsWay($0, onChannelOf: destination)
                ? $0 : nil
        }
        return .push(.start, .start, alert: alert.map { $0.expiresAt > wall ? $0 : $0.silent })
    }

    /// When a waiting start is dropped, whatever its wait reason is: a budget, a token, a pause or
    /// the upstream (pacing rule 5). Nil if no push will begin a card. Nil for a renewal, too: the
    /// old card stays meanwhile, and nothing rings.
    func startWaitEnd(_ slot: CardSlot, now: Instant) -> Instant? {
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

    private func wantAfterEnd(
        _ slot: CardSlot, _ destination: Destination, _ projection: Projection,
        _ ending: Projection.Ending, now: Instant
    ) -> Want {
        switch destination.phase {
        // The app may have begun its card itself and report it later.
        case .waiting where activities[destination.activity].definition.route != .adopt:
            return .annihilated
        case .waiting, .starting, .startUnknown, .started:
            // The system has removed the card by this time.
            let deadline = clock.shownAt(ending.at, now: now) + activityLifeMax
            return now < deadline ? .held(.updateToken, until: deadline) : .giveUp(.expired)
        case .live:
            // An end does not wait for other pushes in flight, only for another end.
            if let flying = destination.inFlight, flying.event == .end {
                return .held(.inFlight, until: flying.until)
            }
            return .push(.end, .end, alert: alertOfEnd(slot, projection, now: now))
        case .ended, .gone, .lapsed, .listening: return .later(nil)
        }
    }

    /// The newest alert that still waits.
    private func alertOfEnd(
        _ slot: CardSlot, _ projection: Projection, now: Instant
    ) -> Projection.PendingAlert? {
        projection.alert.flatMap {
            $0.version > destinations[slot].alertsThrough && $0.expiresAt > wall(now)
                && !areAlertsPaused(slot) ? $0 : nil
        }
    }

    private func wantLive(
        _ slot: CardSlot, _ projection: Projection, _ followed: Followed, now: Instant
    ) -> Want {
        if let alert = waitingAlert(slot) { return .push(.update, .must, alert: alert) }
        let urgency = projection.urgency
        let owesTrailing = destinations[slot].owesTrailing
        if destinations[slot].acknowledged < projection.version {
            if !owesTrailing, let skip = skip(slot, projection, visible: followed.visible, now: now)
            {
                return .skip(skip)
            }
            let settles = destinations[slot].settlesAt(time(now), configuration.limits)
            let isOld = settles.map { $0 <= now } ?? false
            return .push(.update, .latest(isOld ? .high : urgency), alert: nil)
        }
        let hasCursor = destinations[slot].hasCursor
        if owesTrailing, !followed.moves,
            projection.clip == nil
                || hasCursor && destinations[slot].playing.hasShownEnd
        {
            return .push(.update, .trailing, alert: nil)
        }
        let (isOver, isRunning) = destinations[slot].clipState(at: wall(now))
        // A bundle is not followed by frames, and one that is held behind an app must wait.
        let isMadeGood =
            followed.moves || followed.playedOn && !(isRunning && destinations[slot].isBundle)
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
        // The last value counts as a state: what holds back frames does not hold it.
        if isOver {
            if destinations[slot].playing.hasShownEnd { return .later(refresh) }
            return isUnchanged(slot, projection, now: now)
                ? .skip(.unchanged) : .push(.update, .latest(urgency), alert: nil)
        }
        guard isRunning else {
            // A clip that plays once on wall time ends even unseen: its last value is sent.
            let end =
                clip.clip.clock == .wall
                ? destinations[slot].playing.end(now: now, wall: wall(now)) : nil
            return .later(Instant.earlier(refresh, end))
        }
        return wantFrame(slot, projection, refresh, now: now)
    }

    /// The want of a destination with a running clip and no other want.
    private func wantFrame(
        _ slot: CardSlot, _ projection: Projection, _ refresh: Instant?, now: Instant
    ) -> Want {
        // A loop this slow is no animation, but would still cost pushes.
        if destinations[slot].playing.fit != .bundle,
            grantInForce(slot).grant.frameInterval > configuration.limits.frameIntervalMax
        {
            // The last value of a clip that plays once is sent anyway.
            let end = destinations[slot].playing.end(now: now, wall: wall(now))
            return .later(Instant.earlier(refresh, end))
        }
        let due = destinations[slot].playing.due
        guard due <= now else { return .later(Instant.earlier(refresh, due)) }
        // After a restart or a late frame, the due time may come before the next requested frame.
        if let next = destinations[slot].playing.nextAsked(now: now, wall: wall(now)) {
            return .later(Instant.earlier(refresh, next))
        }
        if isUnchanged(slot, projection, now: now) { return .skip(.unchanged) }
        // The last value counts as a state, even if it is shown early: no frame follows it.
        let isLast = destinations[slot].playing.showsEnd(at: wall(now))
        return .push(.update, isLast ? .latest(projection.urgency) : .frame, alert: nil)
    }

    /// The oldest alert that was not tried here yet.
    private func waitingAlert(_ slot: CardSlot) -> Projection.PendingAlert? {
        guard !destinations[slot].hasFinal, !areAlertsPaused(slot) else { return nil }
        return activities[destinations[slot].activity].alerts.first {
            $0.version > destinations[slot].alertsThrough
        }
    }

    /// Drops expired alerts, oldest first; their states are sent as `latest`.
    private mutating func expireAlerts(_ slot: CardSlot, now: Instant) {
        let activity = destinations[slot].activity
        guard !activities[activity].alerts.isEmpty, !destinations[slot].hasFinal else { return }
        for alert in activities[activity].alerts
        where alert.version > destinations[slot].alertsThrough {
            guard alert.expiresAt <= wall(now) else { return }
            expire(alert, at: slot, now: now)
        }
    }

    func contentHash(_ projection: Projection, _ state: JSON) -> UInt64 {
        var hash = ContentHash()
        hash.combine(
            state.bytes == projection.state.bytes ? projection.stateHash : state.valueHash)
        hash.combine(projection.relevance?.bitPattern ?? 0)
        return hash.value
    }
}
