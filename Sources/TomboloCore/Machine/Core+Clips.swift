import TomboloJSON

// Clips at a destination: which frame is due, which is shown, and how many were asked for (pacing
// rule 9).

extension Core {
    /// Follows the projection's clip: a new one gets a cursor, one that stopped is counted up.
    mutating func trackClip(_ slot: Int, _ projection: Projection, now: Instant) {
        guard let destination = destinations[slot] else { return }
        if let cursor = destination.cursor, cursor.clip != projection.clip?.version {
            closeCursor(slot, now: now)
        }
        guard let clip = projection.clip, destinations[slot]?.cursor == nil else { return }
        let before = clip.flipbook.asked(after: wall(now) - clip.startedAt) - 1
        var cursor = FrameCursor(clip: clip.version, playing: clip, due: now)
        cursor.missedBefore = max(0, before)
        destinations[slot]?.cursor = cursor
    }

    /// Adds what a clip came to at a destination to the destination's counts.
    mutating func closeCursor(_ slot: Int, now: Instant) {
        guard let destination = destinations[slot], let cursor = destination.cursor else { return }
        destinations[slot]?.cursor = nil
        let end = min(projection(slot)?.changedAt ?? wall(now), wall(now))
        let frames = destination.frames + cursor.counts(at: end)
        destinations[slot]?.frames = frames
        markDirty(slot, now: now)
    }

    /// The state to send; a push while a clip runs shows, and counts as, a frame of it.
    mutating func frameState(
        _ slot: Int, _ event: Push.Event, _ wish: Wish, _ projection: Projection, now: Instant
    ) -> JSON {
        guard event == .update, let clip = projection.clip, var cursor = destinations[slot]?.cursor
        else { return projection.state(at: wall(now)) }
        #if PLANTED_BUGS
            let isSampled = isPlanted(.clipSampledAtItsPeriod)
        #else
            let isSampled = false
        #endif
        let frame: Int
        if clip.flipbook.repetition == .forever, !isSampled {
            frame = Int(cursor.shown % Int64(clip.flipbook.frames.count))
        } else {
            frame = clip.frame(at: wall(now))
        }
        advance(&cursor, clip, interval: interval(slot, clip), now: now)
        cursor.lastFrame = frame
        destinations[slot]?.cursor = cursor
        if wish == .frame { counters.framesSent += 1 }
        return clip.flipbook.state(projection.state, showing: frame)
    }

    private func interval(_ slot: Int, _ clip: Projection.PlayingClip) -> Span {
        guard let destination = destinations[slot] else { return clip.flipbook.every }
        return max(clip.flipbook.every, grantInForce(destination).grant.frameInterval)
    }

    /// At full speed frames keep to their grid, and one that could not go in its time is merged
    /// into the next; a slowed clip counts from what it showed last.
    private func advance(
        _ cursor: inout FrameCursor, _ clip: Projection.PlayingClip, interval: Span, now: Instant
    ) {
        cursor.shown += 1
        guard interval == clip.flipbook.every else {
            cursor.due = now + interval
            return
        }
        let late = max(0, (now - cursor.due).nanoseconds / interval.nanoseconds)
        cursor.merged += late
        cursor.due = cursor.due + Span(nanoseconds: interval.nanoseconds * (late + 1))
    }
}
