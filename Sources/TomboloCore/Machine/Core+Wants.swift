import TomboloJSON

// What a destination wants to send. Nothing here changes the core, except `follow`.

extension Core {
    /// What a destination wants now.
    enum Want {
        case push(Push.Event, Wish, alert: Projection.PendingAlert?)
        /// Nothing before this instant (nil: until something changes). No change waits.
        case later(Instant?)
        case held(WaitReason, until: Instant?)
        /// The newest state needs no push.
        case skip(EventDecision)
        /// No push: the card was never begun, so it need not be ended.
        case annihilated
        /// No push: no card will begin here any more, or the card cannot get its end.
        case giveUp(EventDecision)
        /// Send a start again, whose outcome is unknown.
        case resend
        /// A start's outcome is unknown, but its card listens on a channel: it needs no push of its
        /// own.
        case listen
    }

    /// What `follow` has found, for the decision what is wanted.
    struct Followed {
        /// True if frames were sent until now: then the next frame replaces a lost one.
        var playedOn = false
        /// The next push for the value that depends on presence; nil if there is none.
        var turn: BoundValue.Turn?
        /// True while this value is animated: then the next step replaces a lost push.
        var moves: Bool { turn?.isOnWay ?? false }
        /// A hash of the visible part of a newer state.
        var visible: UInt64?
    }

    /// Updates what depends on time: the clip's cursor, the value that depends on presence, and
    /// expired alerts. While a push is held back, due frames are counted under the reason.
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
            let reason = withoutToken(destination, now: now)
            return .held(reason, until: reason == .stranded ? nil : strandedAt(destination))
        case .startUnknown:
            let deadline = destination.phaseSince + configuration.limits.startDeadline
            if now < deadline { return .held(.unknownStart, until: deadline) }
            let policy = activities[destination.activity].definition.onUnknownStart
            if policy == .resend { return .resend }
            return startChannel(destination) != nil ? .listen : .giveUp(.noRoute)
        case .live, .ended, .gone, .lapsed, .listening: return .later(nil)
        }
    }

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
        // The activity has ended, but this is not durable: a card would begin with the next start's
        // state.
        if activities[destination.activity].isToBeginAnew { return .held(.reserving, until: nil) }
        guard activities[destination.activity].definition.route != .adopt else {
            return .held(.updateToken, until: nil)
        }
        guard startToken(destination) != nil else { return .held(.startToken, until: nil) }
        // Each start has an alert, so a pause of alerts holds it back.
        if areAlertsPaused { return .held(.paused, until: nil) }
        // An alert that has rung with an earlier card does not ring again.
        let alert = projection.alert.flatMap {
            $0.version > destination.alertsThrough && !isOnItsWay($0, onChannelOf: destination)
                ? $0 : nil
        }
        return .push(.start, .start, alert: alert.map { $0.expiresAt > wall ? $0 : $0.silent })
    }

    /// When a waiting start is dropped, whatever it waits for: a budget, a token, a pause or the
    /// upstream (pacing rule 5). Nil if the app starts the cards itself. Nil for a renewal, too,
    /// because the old card stays meanwhile, and no alert rings.
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
        // If the app starts its cards itself, it may have begun one and report it later.
        case .waiting where activities[destination.activity].definition.route != .adopt:
            return .annihilated
        case .waiting, .starting, .startUnknown, .started:
            // After this time, the system has removed the card.
            let deadline = clock.shownAt(ending.at, now: now) + activityLifeMax
            return now < deadline ? .held(.updateToken, until: deadline) : .giveUp(.expired)
        case .live:
            // An end does not wait for an update in flight, only for another end.
            if let flying = destination.inFlight, flying.event == .end {
                return .held(.inFlight, until: flying.until)
            }
            return .push(.end, .end, alert: alertOfEnd(slot, projection, now: now))
        case .ended, .gone, .lapsed, .listening: return .later(nil)
        }
    }

    /// The newest alert, if it was not sent to this destination and has not expired; else nil.
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
        let owesTrailing = destinations[slot][.owesTrailing]
        if destinations[slot].acknowledged < projection.version {
            if !owesTrailing, let skip = skip(slot, projection, visible: followed.visible, now: now)
            {
                return .skip(skip)
            }
            let wish = destinations[slot].latestWish(
                urgency, at: time(now), configuration.limits)
            return .push(.update, wish, alert: nil)
        }
        let hasCursor = destinations[slot].hasCursor
        if owesTrailing, !followed.moves,
            projection.clip == nil
                || hasCursor && destinations[slot].playing.hasShownEnd
        {
            return .push(.update, .trailing, alert: nil)
        }
        let (isOver, isRunning) = destinations[slot].clipState(at: wall(now))
        // After a bundle no frames follow, and held-back frames do not either.
        let isMadeGood =
            followed.moves || followed.playedOn && !(isRunning && destinations[slot].isBundle)
        let settles = isMadeGood ? nil : settleDue(slot, now: now)
        if let settles, settles <= now { return .push(.update, .settle, alert: nil) }
        let stale = destinations[slot].staleRefresh(projection, at: time(now))
        if let stale, stale <= now { return .push(.update, .refresh, alert: nil) }
        let echo =
            isMadeGood
            ? nil
            : destinations[slot].echoDue(projection, at: time(now), configuration.limits)
        if let echo, echo <= now { return .push(.update, .echo, alert: nil) }
        let refresh = Instant.earlier(settles, Instant.earlier(stale, echo))
        guard let clip = projection.clip, hasCursor else { return .later(refresh) }
        // The last value counts as a state, so what holds back frames does not hold it back.
        if isOver {
            if destinations[slot].playing.hasShownEnd { return .later(refresh) }
            return isUnchanged(slot, projection, now: now)
                ? .skip(.unchanged) : .push(.update, .latest(urgency), alert: nil)
        }
        guard isRunning else {
            // A clip on wall time that plays once ends even if nobody sees it: send its last value.
            let end =
                clip.clip.clock == .wall
                ? destinations[slot].playing.end(now: now, wall: wall(now)) : nil
            return .later(Instant.earlier(refresh, end))
        }
        return wantFrame(slot, projection, refresh, now: now)
    }

    /// What a destination with a running clip wants if it wants nothing else.
    private func wantFrame(
        _ slot: CardSlot, _ projection: Projection, _ refresh: Instant?, now: Instant
    ) -> Want {
        // A loop this slow looks like no animation, but still costs pushes: send no frames.
        if destinations[slot].playing.fit != .bundle,
            grantInForce(slot).grant.frameInterval > configuration.limits.frameIntervalMax
        {
            // The last value of a clip that plays once is sent in any case.
            let end = destinations[slot].playing.end(now: now, wall: wall(now))
            return .later(Instant.earlier(refresh, end))
        }
        let due = destinations[slot].playing.due
        guard due <= now else { return .later(Instant.earlier(refresh, due)) }
        // After a restart or a late frame, `due` may come before the next frame is requested.
        if let next = destinations[slot].playing.nextAsked(now: now, wall: wall(now)) {
            return .later(Instant.earlier(refresh, next))
        }
        if isUnchanged(slot, projection, now: now) { return .skip(.unchanged) }
        // The last value counts as a state even if it is sent early, because no frame follows.
        let isLast = destinations[slot].playing.showsEnd(at: wall(now))
        return .push(.update, isLast ? .latest(projection.urgency) : .frame, alert: nil)
    }

    /// The oldest alert that was not tried at this destination yet.
    private func waitingAlert(_ slot: CardSlot) -> Projection.PendingAlert? {
        guard !destinations[slot].hasFinal, !areAlertsPaused(slot) else { return nil }
        return activities[destinations[slot].activity].alerts.first {
            $0.version > destinations[slot].alertsThrough
        }
    }

    /// Drops expired alerts, oldest first. Their states are sent as the latest state.
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
