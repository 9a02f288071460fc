import TomboloJSON

// Clips at a destination: which frame is due, which is shown, and what became of the others (pacing
// rules 9 and 12).

extension Core {
    /// Follows the projection's clip: a new one gets a cursor, one that stopped is counted up; and
    /// what holds frames back holds them from now on.
    mutating func trackClip(_ slot: Int, _ projection: Projection, now: Instant) {
        let known = destinations[slot]?.cursor
        if let known, known.version != projection.clip?.version {
            closeCursor(slot, now: now)
        }
        guard let playing = projection.clip, let destination = destinations[slot] else { return }
        let (granted, wall) = (grantInForce(destination).grant.frameInterval, wall(now))
        let mode = frameMode(slot, now: now)
        // Most looks find all as it was: then nothing is written.
        if let known, known.version == playing.version, known.mode == mode,
            known.granted == granted
        {
            return
        }
        var cursor =
            destination.cursor
            ?? FrameCursor(
                playing, fit: fit(playing.clip, projection, activities[destination.activity]),
                granted: granted, now: now, wall: wall)
        #if PLANTED_BUGS
            cursor.forgetsBundle = isPlanted(.bundleFrameByFrame)
        #endif
        cursor.enter(mode, now: now, wall: wall)
        cursor.follow(granted: granted, now: now, wall: wall)
        destinations[slot]?.cursor = cursor
    }

    /// Adds what a clip came to at a destination to the destination's counts.
    mutating func closeCursor(_ slot: Int, now: Instant) {
        guard let destination = destinations[slot], var cursor = destination.cursor else { return }
        let projection = projection(slot)
        cursor.account(at: min(projection?.changedAt ?? wall(now), wall(now)))
        destinations[slot]?.cursor = nil
        destinations[slot]?.frames = destination.frames + cursor.tally
        if projection?.keptClip?.version == cursor.version {
            destinations[slot]?.keptAt = cursor.shownAt
        }
        markDirty(slot, now: now)
    }

    /// The state to send. A push while a clip runs shows, and counts as, a frame of it; an end
    /// keeps the frame that this phone shows.
    mutating func frameState(
        _ slot: Int, _ event: Push.Event, _ wish: Wish, _ projection: Projection, now: Instant
    ) -> JSON {
        let wall = wall(now)
        guard let cursor = destinations[slot]?.cursor else {
            let state =
                destinations[slot]?.keptAt.map { projection.state(showing: $0) }
                ?? projection.state(at: wall)
            return event == .start ? bundled(slot, projection, into: state, wall) : state
        }
        if event == .end, projection.keptClip?.version == cursor.version {
            return cursor.shownAt.map { projection.state(showing: $0) } ?? projection.state
        }
        guard event == .update, projection.clip != nil else { return projection.state(at: wall) }
        let due = cursor.frame(at: wall)
        #if PLANTED_BUGS
            var frame = due
            if isPlanted(.clipSampledAtItsPeriod), let clip = projection.clip,
                clip.clip.duration == nil
            {
                frame = clip.elapsed(at: wall)
            }
        #else
            let frame = due
        #endif
        #if PLANTED_BUGS
            let isLost = isPlanted(.bundleLostWithChange) && wish != .frame
            let began = isLost ? nil : cursor.bundleBegan(at: wall)
        #else
            let began = cursor.bundleBegan(at: wall)
        #endif
        destinations[slot]?.cursor?.show(frame, now: now, wall: wall)
        if wish == .frame, let activity = destinations[slot]?.activity {
            counters[activities[activity].key.tenant].framesSent += 1
        }
        let state = frame.map { projection.state(showing: $0) } ?? projection.state
        return began.flatMap { bundled(slot, projection, into: state, began: $0) } ?? state
    }

    /// The state of a start while a bundle plays: its card plays from the beginning on.
    private func bundled(
        _ slot: Int, _ projection: Projection, into state: JSON, _ wall: Instant
    ) -> JSON {
        guard let playing = projection.clip, playing.clip.clock == .wall,
            let activity = destinations[slot]?.activity,
            fit(playing.clip, projection, activities[activity]) == .bundle,
            playing.clip.duration.map({ playing.elapsed(at: wall) < $0 }) ?? true
        else { return state }
        return bundled(slot, projection, into: state, began: wall - playing.elapsed(at: wall))
            ?? state
    }

    /// Nil where there is no room for it beside the state that has come since it began to play.
    private func bundled(
        _ slot: Int, _ projection: Projection, into state: JSON, began: Instant
    ) -> JSON? {
        #if PLANTED_BUGS
            let began = isPlanted(.bundleBegunAnew) ? began + .seconds(1) : began
        #endif
        guard let activity = destinations[slot]?.activity,
            let state = projection.clip?.clip.bundled(into: state, began: began),
            payloadBytes(projection, state, activities[activity].definition, alert: nil)
                <= Payload.bytesMax
        else { return nil }
        return state
    }

    /// Whether the phone has this very state already. A frame of a loop counts as new, however it
    /// looks: the producer has asked for it.
    func isUnchanged(_ slot: Int, _ projection: Projection, now: Instant) -> Bool {
        guard let destination = destinations[slot] else { return false }
        var state = projection.state
        if let clip = projection.clip {
            guard let cursor = destination.cursor else { return false }
            if case .flipbook = clip.clip.motion, cursor.mode == .running { return false }
            let frame = cursor.frame(at: wall(now))
            state = frame.map { projection.state(showing: $0) } ?? state
        }
        return destination.contentHash == contentHash(projection, state)
    }

    /// What holds frames at a destination.
    private func frameMode(_ slot: Int, now: Instant) -> FrameCursor.Mode {
        isPaused(slot) ? .paused : isHidden(slot, now: now) ? .hidden : .running
    }

    /// When a one-shot on the wall's clock is over although nobody sees it: its last value goes.
    func endOfHidden(_ playing: Projection.PlayingClip, now: Instant) -> Instant? {
        guard playing.clip.clock == .wall else { return nil }
        return playing.clip.duration.map { now + ($0 - playing.elapsed(at: wall(now))) }
    }

    func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// A clip goes on at a destination where the last relay's mark left it.
    mutating func restore(_ mark: Mark.Clip, at slot: Int, now: Instant) {
        guard let destination = destinations[slot], let projection = projection(slot),
            let playing = projection.clip ?? projection.keptClip,
            playing.version == mark.version,
            destination.incarnation == activities[destination.activity].incarnation
        else { return }
        let cursor = FrameCursor(
            playing, counted: mark.counted, pushed: mark.pushed, shownAt: mark.shownAt,
            elapsed: mark.elapsed,
            fit: fit(playing.clip, projection, activities[destination.activity]),
            granted: grantInForce(destination).grant.frameInterval, now: now, wall: wall(now))
        destinations[slot]?.cursor = cursor
    }
}
