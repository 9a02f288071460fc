import TomboloJSON

// What a destination wants. Nothing here changes anything but `follow`, which goes before.

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
        /// No card begins here, or none gets its end any more.
        case giveUp(EventDecision)
        /// A start of unknown outcome goes once more.
        case resend
        /// A start of unknown outcome: on its channel a card needs nothing more of its own.
        case listen
    }

    /// What a look has found out before it asks what the destination wants.
    struct Followed {
        /// Frames went until now: one that was lost is made good by the next.
        var playedOn = false
        /// When a value that follows presence moves next; nil where there is none.
        var turn: BoundValue.Turn?
        /// A value that follows presence is on its way: its next step makes good as well.
        var moves: Bool { turn?.isOnWay ?? false }
        /// A hash of what would show of a newer state.
        var visible: UInt64?
    }

    /// Follows what is so at this moment: the projection's clip, presence, and alerts whose time is
    /// over. Whatever holds pushes back: frames that are asked for meanwhile are counted for what
    /// holds them.
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

    /// Of a card that is there.
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
        // An app may have begun its card itself, and tell of it later.
        case .waiting where activities[destination.activity].definition.route != .adopt:
            return .annihilated
        case .waiting, .starting, .startUnknown, .started:
            // No card outlives its activity by more: the system has taken it away by then.
            let deadline = clock.shownAt(ending.at, now: now) + activityLifeMax
            return now < deadline ? .held(.updateToken, until: deadline) : .giveUp(.expired)
        case .live:
            // An end waits for no push in flight, but is not sent beside itself.
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
        // A bundle is all there is, and no frame follows it; behind an app in front it waits.
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
        // The last value is a state: no gate holds it.
        if isOver {
            if destinations[slot].playing.hasShownEnd { return .later(refresh) }
            return isUnchanged(slot, projection, now: now)
                ? .skip(.unchanged) : .push(.update, .latest(urgency), alert: nil)
        }
        guard isRunning else {
            // A one-shot on the wall's clock ends although nobody sees it: its last value goes.
            let end =
                clip.clip.clock == .wall
                ? destinations[slot].playing.end(now: now, wall: wall(now)) : nil
            return .later(Instant.earlier(refresh, end))
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

    /// The oldest alert not yet tried here.
    private func waitingAlert(_ slot: CardSlot) -> Projection.PendingAlert? {
        guard !destinations[slot].hasFinal, !areAlertsPaused(slot) else { return nil }
        return activities[destinations[slot].activity].alerts.first {
            $0.version > destinations[slot].alertsThrough
        }
    }

    /// Alerts past their time are dropped, those that are oldest first; their state is `latest`.
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
