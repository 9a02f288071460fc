import TomboloJSON

// Clips at a destination: which frame is due, which one a push shows, and what becomes of the
// others (pacing rules 9 and 12).

extension Core {
    /// Lets the destination's cursor follow the projection's clip: makes a cursor for a new clip,
    /// closes that of a stopped one, and sets whether frames are sent.
    mutating func trackClip(_ slot: CardSlot, _ projection: Projection, now: Instant) {
        let hasCursor = destinations[slot].hasCursor
        let known = hasCursor ? destinations[slot].playing.version : nil
        let before = known == projection.clip?.version ? nil : destinations.at(slot)?.cursor
        if let known, known != projection.clip?.version { closeCursor(slot, now: now) }
        guard let playing = projection.clip else { return }
        let (granted, wall) = (grantInForce(slot).grant.frameInterval, wall(now))
        let mode = frameMode(slot, now: now)
        // Fast path: usually nothing has changed. It writes and copies nothing.
        if known == playing.version, destinations[slot].playing.mode == mode,
            destinations[slot].playing.granted == granted
        {
            return
        }
        guard let destination = destinations.at(slot) else { return }
        var cursor =
            destination.cursor
            ?? FrameCursor(
                playing, fit: fit(playing.clip, projection, activities[destination.activity]),
                granted: granted, mode: mode, after: before, now: now, wall: wall)
        cursor.enter(mode, now: now, wall: wall)
        cursor.follow(granted: granted, now: now, wall: wall)
        destinations[slot].cursor = cursor
    }

    /// Removes the cursor of a stopped clip, and adds its counts to those of the destination.
    mutating func closeCursor(_ slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot), var cursor = destination.cursor else {
            return
        }
        let projection = projection(slot)
        let end = min(projection?.changedAt ?? wall(now), wall(now))
        cursor.account(at: end)
        if let news = cursor.takeNews(at: wall(now), isLast: true) {
            noteFrames(slot, cursor.playing.name, news, now: now)
        }
        destinations[slot].cursor = nil
        destinations[slot].frames = destination.frames + cursor.tally
        if projection?.keptClip?.version == cursor.version {
            destinations[slot].keptAt = cursor.kept(at: end)
        }
        scheduleCheckpoint(slot, now: now)
    }

    /// The state to send. A push while a clip runs shows a frame and counts as one; an end keeps
    /// the frame that this phone shows.
    mutating func frameState(
        _ slot: CardSlot, _ event: Push.Event, _ wish: Wish, _ projection: Projection, now: Instant
    ) -> JSON {
        let wall = wall(now)
        guard destinations[slot].hasCursor, event != .start else {
            let state =
                destinations[slot].keptAt.map { projection.state(showing: $0) }
                ?? projection.state(at: wall)
            return event == .start ? bundled(slot, projection, into: state, wall) : state
        }
        let version = destinations[slot].playing.version
        if event == .end, projection.keptClip?.version == version {
            let kept = destinations[slot].playing.kept(at: min(projection.changedAt, wall))
            return kept.map { projection.state(showing: $0) } ?? projection.state
        }
        guard event == .update, projection.clip != nil else {
            return projection.state(at: wall)
        }
        let frame = destinations[slot].playing.frame(at: wall)
        let (plain, full) = destinations[slot].playing.states(of: projection, at: wall)
        destinations[slot].playing.show(frame, now: now, wall: wall)
        if let news = destinations[slot].playing.takeNews(at: wall) {
            noteFrames(slot, destinations[slot].playing.playing.name, news, now: now)
        }
        if wish == .frame {
            counters[configuration[destinations[slot].upstream].tenant].framesSent += 1
        }
        return full.flatMap { fitting(projection, $0, activities[destinations[slot].activity]) }
            ?? plain
    }

    /// The state of the first push after a change of an activity: with the frame of a destination
    /// that shows the clip already, else with that of a new one.
    func firstState(
        of activity: Activity, _ destinations: SlotList<Tables.Cards>, granted: Span, now: Instant
    ) -> JSON {
        let (projection, wall) = (activity.accepted, wall(now))
        guard let playing = projection.clip else { return projection.state(at: wall) }
        let known = destinations.compactMap({ self.destinations.at($0)?.cursor })
            .first(where: { $0.version == playing.version })
        let cursor =
            known
            ?? FrameCursor(
                playing, fit: fit(playing.clip, projection, activity), granted: granted, now: now,
                wall: wall)
        let (plain, full) = cursor.states(of: projection, at: wall)
        return full.flatMap { fitting(projection, $0, activity) } ?? plain
    }

    /// The state of a start while a bundle plays. It contains the bundle, so that the new card
    /// plays it, too.
    private func bundled(
        _ slot: CardSlot, _ projection: Projection, into state: JSON, _ wall: Instant
    ) -> JSON {
        guard let playing = projection.clip, playing.clip.clock == .wall,
            fit(playing.clip, projection, activities[destinations[slot].activity]) == .bundle,
            playing.clip.duration.map({ playing.elapsed(at: wall) < $0 }) ?? true
        else { return state }
        return playing.clip.bundled(into: state, began: wall - playing.elapsed(at: wall))
            .flatMap { fitting(projection, $0, activities[destinations[slot].activity]) }
            ?? state
    }

    /// The state, if it fits into a push; else nil.
    private func fitting(
        _ projection: Projection, _ state: JSON, _ activity: Activity
    ) -> JSON? {
        let size = PushSize.size(projection, state, activity.definition, alert: nil)
        return size.isTooLarge ? nil : state
    }

    /// True if the phone has exactly this state. A frame of a loop always counts as new, because
    /// the producer has requested it.
    func isUnchanged(_ slot: CardSlot, _ projection: Projection, now: Instant) -> Bool {
        var state = projection.state
        if let clip = projection.clip {
            guard destinations[slot].hasCursor else { return false }
            // Only a loop's first frame may be left out if the phone shows it already.
            if destinations[slot].playing.mode == .running, clip.isFlipbook,
                !destinations[slot].playing.isAtFirst
            {
                return false
            }
            let (plain, full) = destinations[slot].playing.states(of: projection, at: wall(now))
            state =
                full.flatMap { fitting(projection, $0, activities[destinations[slot].activity]) }
                ?? plain
        }
        return destinations[slot].contentHash == contentHash(projection, state)
    }

    /// Why a state is not sent: the phone has it already (rule 1), or would show no difference
    /// (rule 17). Nil if the state must be sent.
    func skip(
        _ slot: CardSlot, _ projection: Projection, visible: UInt64?, now: Instant
    ) -> EventDecision? {
        if isUnchanged(slot, projection, now: now) { return .unchanged }
        guard destinations[slot].contentHash != 0, let seen = destinations[slot].visibleHash
        else { return nil }
        return visible == seen ? .notVisible : nil
    }

    /// A hash of the visible part of a state. Nil if no part is hidden, and while a clip plays,
    /// because its frames are always sent.
    mutating func visibleHash(_ slot: CardSlot, _ projection: Projection) -> UInt64? {
        guard !types.isEmpty, projection.clip == nil, projection.ending == nil else { return nil }
        let activity = destinations[slot].activity
        // One change goes to many phones, so the last result is kept.
        if let last = types.lastVisible, last.activity == activities[activity].number,
            last.version == projection.version, last.changedAt == projection.changedAt
        {
            return last.hash
        }
        let type = types.type(
            of: activities[activity].definitionBox.value, activities[activity].key.tenant)
        guard let visibility = type?.visibility else { return nil }
        var hash = ContentHash()
        hash.combine(visibility.hash(of: projection.state))
        hash.combine(projection.relevance?.bitPattern ?? 0)
        types.lastVisible = VisibleState(
            activity: activities[activity].number, version: projection.version,
            changedAt: projection.changedAt, hash: hash.value)
        return hash.value
    }

    private func frameMode(_ slot: CardSlot, now: Instant) -> FrameCursor.Mode {
        if isPaused(slot) { return .paused }
        if destinations[slot].phase != .live { return .noRoute }
        return isHidden(slot, now: now) ? .hidden : .running
    }

    mutating func restore(_ checkpoint: Checkpoint.Clip, at slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot), let projection = projection(slot),
            let playing = projection.clip ?? projection.keptClip,
            playing.version == checkpoint.version,
            destination.incarnation == activities[destination.activity].incarnation
        else { return }
        let cursor = FrameCursor(
            playing, counted: checkpoint.counted, pushed: checkpoint.pushed,
            shownAt: checkpoint.shownAt,
            elapsed: checkpoint.elapsed,
            fit: fit(playing.clip, projection, activities[destination.activity]),
            granted: grantInForce(destination).grant.frameInterval, now: now, wall: wall(now))
        destinations[slot].cursor = cursor
    }

    // MARK: Pushes of frames (pacing rule 10)

    /// How a clip's frames become pushes: as the producer has chosen, else by what the type's app
    /// supports.
    func fit(_ clip: Clip, _ projection: Projection, _ activity: Activity) -> Clip.Fit {
        guard clip.fit == .auto else { return clip.fit }
        guard let type = types.type(of: activity.definition, activity.key.tenant) else {
            return .step
        }
        switch clip.motion {
        case .tween: return type.animates ? .keyframes : .step
        case .flipbook:
            guard type.plays,
                let size = PushSize.ofBundle(clip, projection, activity.definition)
            else { return .step }
            return size.isTooLarge ? .step : .bundle
        }
    }

    /// The cost and the frame rate of a clip under a grant.
    func plan(
        _ clip: Clip, payloadBytes: Int, _ projection: Projection, _ activity: Activity,
        _ grant: GrantInForce
    ) -> ClipPlan {
        let fit = fit(clip, projection, activity)
        let bundle = fit == .bundle ? PushSize.ofBundle(clip, projection, activity.definition) : nil
        return ClipPlan(
            clip, fit: fit, grant, intervalMax: configuration.limits.frameIntervalMax,
            payloadBytes: bundle?.bytes ?? payloadBytes,
            payloadBytesMax: activity.definition.payloadBytesMax)
    }
}
