import TomboloJSON

/// The progress of a clip at one destination, and the decisions about its requested frames.
struct FrameCursor: Sendable {
    /// Whether frames are sent, or why not.
    enum Mode: UInt8, Hashable, Sendable {
        case running
        /// The app is in front (rule 12).
        case hidden
        /// An operator's pause (rule 16).
        case paused
        /// There is no card yet, or no card any more.
        case noRoute
    }

    /// The clip itself: its frames are counted even after the projection has lost it.
    private(set) var playing: PlayingClip
    /// Never `auto`.
    let fit: Clip.Fit
    private(set) var mode = Mode.running
    /// The clip's time as this phone has seen it. With the clock `shown` it can stop.
    private var clock: ClipClock
    /// When the next frame should be sent.
    var due: Instant
    /// The interval behind `due`, and the granted interval from which it was derived.
    private(set) var interval: Span
    private(set) var granted: Span
    /// True if the phone has all frames and plays them by itself.
    private var isBundleThere = false
    private(set) var lastPush = Instant.distantPast
    /// Number of frames shown: the k-th frame of a loop is frame k mod n.
    private(set) var pushed: Int64 = 0
    /// The clip's time of the frame shown last.
    private(set) var shownAt: Span?
    /// The clip's time of the frame shown before that, in case the last push is lost.
    private(set) var shownBefore: Span?
    /// Number of requested frames that have a decision.
    private(set) var counted: Int64 = 0
    /// The decisions, counted.
    private(set) var tally = FrameCounts()
    /// The decisions by second, for the last minute.
    private(set) var seconds = FrameSeconds()
    /// The part of the tally that is recorded, and the minute in which it was recorded.
    private var recorded = FrameCounts()
    private var recordedMinute: Int64?

    /// The clip's timing, copied here because the clip is shared.
    private let rhythm: ClipRhythm

    var version: Int64 { playing.version }
    var clip: Clip { _read { yield playing.clip } }

    /// A clip that begins at this destination. Frames requested earlier had no route.
    ///
    /// - Parameter before: the clip that played here until now. A loop with the same frames
    ///   continues from the frame that this phone shows.
    init(
        _ playing: PlayingClip, fit: Clip.Fit, granted: Span, mode: Mode = .running,
        after before: FrameCursor? = nil, now: Instant, wall: Instant
    ) {
        let playing = playing.placed(at: wall)
        self.playing = playing
        self.fit = fit
        self.granted = granted
        rhythm = playing.clip.rhythm
        interval = playing.clip.step(granted: granted, fit: fit)
        let isLate = playing.clip.clock == .shown && playing.elapsed(at: wall) > .zero
        clock = ClipClock(startedAt: isLate ? wall : playing.startedAt)
        due = now
        let missed = max(0, asked(at: wall) - 1)
        counted = missed
        tally.noRoute = missed
        tally.asked = missed
        tally.time = time(of: missed)
        self.mode = mode
        if let before, let step = clip.step(after: before.shownAt, of: before.playing) {
            pushed = step
            due = before.due
        }
        if mode != .running, playing.clip.clock == .shown { clock.run(false, at: wall) }
    }

    /// A clip that began under an earlier run of the relay.
    init(
        _ playing: PlayingClip, counted: Int64, pushed: Int64, shownAt: Span?,
        elapsed: Span, fit: Clip.Fit, granted: Span, now: Instant, wall: Instant
    ) {
        let playing = playing.placed(at: wall, elapsed: elapsed)
        self.playing = playing
        self.fit = fit
        self.granted = granted
        rhythm = playing.clip.rhythm
        interval = playing.clip.step(granted: granted, fit: fit)
        self.counted = counted
        self.pushed = pushed
        self.shownAt = shownAt
        shownBefore = shownAt
        clock =
            playing.clip.clock == .shown
            ? ClipClock(before: max(.zero, elapsed), runningSince: wall)
            : ClipClock(startedAt: playing.startedAt)
        due = now
        // Frames requested while no relay ran had no route either.
        let missed = max(0, asked(at: wall) - 1 - counted)
        add(missed, .noRoute, at: wall)
    }

    // MARK: Time

    /// The clip's time at this destination.
    func elapsed(at wall: Instant) -> Span { clock.elapsed(at: wall) }

    /// Follows a wall clock that was set back: the clip continues where it is.
    mutating func followClock(by step: Span) {
        playing.startedAt = playing.startedAt + step
        clock.move(by: step)
    }

    /// True if the first frame has been requested. After a restart it may be a little ahead.
    private func hasBegun(at wall: Instant) -> Bool { wall >= playing.startedAt }

    /// When the first frame will be requested.
    private func beginning(now: Instant, wall: Instant) -> Instant {
        now + (playing.startedAt - wall)
    }

    /// True if the clip has played to its end here; never for a loop.
    func isOver(at wall: Instant) -> Bool {
        rhythm.duration.map { elapsed(at: wall) >= $0 } ?? false
    }

    /// True if no frame of it was shown here yet.
    var isAtFirst: Bool { pushed == 0 && shownAt == nil }

    /// True if the end of the clip has been shown; for a flip-book, its last frame.
    var hasShownEnd: Bool { isEnd(shownAt) }

    /// True if a push now would show the end of the clip.
    func showsEnd(at wall: Instant) -> Bool { isEnd(frame(at: wall)) }

    private func isEnd(_ frame: Span?) -> Bool {
        guard let duration = rhythm.duration, let frame else { return false }
        return frame + (rhythm.loop == nil ? .zero : rhythm.every) >= duration
    }

    /// True if a push now shows a new frame instead of the last one again.
    func moves(at wall: Instant) -> Bool { mode == .running || isOver(at: wall) }

    /// Changes whether frames are sent, from now on.
    mutating func enter(_ mode: Mode, now: Instant, wall: Instant) {
        guard mode != self.mode else { return }
        // When frames are sent again, the newest requested one is due at once.
        let isNext = mode == .running && asked(at: wall) > counted
        account(at: wall, but: isNext ? 1 : 0)
        self.mode = mode
        isBundleThere = false
        if clip.clock == .shown { clock.run(mode == .running, at: wall) }
        if isNext { due = now }
    }

    /// Follows a change of the granted interval; the clip continues from the frame shown.
    mutating func follow(granted next: Span, now: Instant, wall: Instant) {
        guard next != granted else { return }
        granted = next
        let next = clip.step(granted: next, fit: fit)
        guard next != interval else { return }
        account(at: wall)
        interval = next
        guard pushed > 0 else { return }
        due = rhythm.duration == nil ? max(now, lastPush + next) : nextOnGrid(now: now, wall: wall)
    }

    // MARK: Frames

    /// The clip's time of the frame that a push shows now. A hidden or paused clip keeps its frame;
    /// nil if none was shown yet.
    func frame(at wall: Instant) -> Span? {
        guard moves(at: wall) else { return shownAt }
        guard let duration = rhythm.duration else {
            if fit == .bundle { return elapsed(at: wall) }
            let isNew = asked(at: wall) > counted
            let index = isNew ? pushed : max(0, pushed - 1)
            return rhythm.every.times(index % max(1, rhythm.loop ?? 1))
        }
        let elapsed = elapsed(at: wall)
        guard elapsed < duration else { return duration }
        // Rounds down, because a push is a few milliseconds late: it shows a requested frame. The
        // first frame is then often the one that the phone shows already, for free.
        let sample = Self.floor(elapsed, to: interval)
        guard fit == .keyframes, hasBegun(at: wall) else {
            return max(sample, Self.floor(elapsed, to: rhythm.every))
        }
        // The phone animates to a keyframe until the next one comes. Tolerate the few nanoseconds
        // that rounding leaves.
        let end = sample + interval
        return end > duration - Span(nanoseconds: interval.nanoseconds / 2) ? duration : end
    }

    private static func floor(_ span: Span, to step: Span) -> Span {
        let step = max(1, step.nanoseconds)
        return Span(nanoseconds: span.nanoseconds / step * step)
    }

    /// When the phone should reach the keyframe that a push shows now; nil for other clips. Nil for
    /// a tween's last value, too, which is a plain state.
    func keyframeReached(at wall: Instant) -> Instant? {
        guard fit == .keyframes, mode == .running, hasBegun(at: wall),
            let duration = rhythm.duration, let end = frame(at: wall), end < duration
        else { return nil }
        return wall + (end - elapsed(at: wall))
    }

    /// When the clip ends here; nil for a loop, and while its clock is stopped.
    func end(now: Instant, wall: Instant) -> Instant? {
        guard clock.isRunning, let duration = rhythm.duration else { return nil }
        return now + max(.zero, duration - elapsed(at: wall))
    }

    /// The clip's time of the frame that the phone keeps if the activity ends at that instant: a
    /// bundle has played on since its push.
    func kept(at wall: Instant) -> Span? { isBundleThere ? elapsed(at: wall) : shownAt }

    /// When the first frame of a bundle would have been shown; nil if no bundle is to be sent.
    func bundleBegan(at wall: Instant) -> Instant? {
        guard fit == .bundle, mode == .running, !isOver(at: wall) else { return nil }
        return wall - elapsed(at: wall)
    }

    /// Counts a push that showed `frame` as one frame, if one was requested since the last.
    mutating func show(_ frame: Span?, now: Instant, wall: Instant) {
        shownBefore = shownAt
        shownAt = frame
        guard moves(at: wall) else { return }
        let new = asked(at: wall) - counted
        if new > 0 {
            add(new - 1, isSlowed ? .slowed : .merged, at: wall)
            add(1, .sent, at: wall)
            pushed += 1
        }
        isBundleThere = fit == .bundle && mode == .running
        schedule(showsNew: new > 0, now: now, wall: wall)
    }

    /// Notes that the last push is probably lost. The next frame replaces the lost one; if there is
    /// none, the last frame is due again.
    ///
    /// - Parameter wasKnown: the push had no newer version, so that nothing else repeats it.
    mutating func lost(wasKnown: Bool, now: Instant) {
        if hasShownEnd { shownAt = shownBefore }
        guard wasKnown, isBundleThere else { return }
        isBundleThere = false
        due = now
    }

    /// Skips the frame that is due, because the phone shows it already: saves a push.
    mutating func skipUnchanged(now: Instant, wall: Instant) {
        guard moves(at: wall) else { return }
        shownAt = frame(at: wall)
        let new = asked(at: wall) - counted
        add(new - 1, isSlowed ? .slowed : .merged, at: wall)
        add(min(1, new), .unchanged, at: wall)
        let isFirst = pushed == 0
        if new > 0 { pushed += 1 }
        schedule(showsNew: new > 0, now: now, wall: wall)
        // Skipping is free, so the next frame, the first that moves, need not wait for the budget.
        if isFirst, rhythm.duration == nil { due = min(due, now + rhythm.every) }
    }

    private mutating func schedule(showsNew: Bool, now: Instant, wall: Instant) {
        lastPush = now
        guard !isBundleThere else {
            // The phone plays by itself; only the last value of a clip that plays once is due.
            due = rhythm.duration.map { now + ($0 - elapsed(at: wall)) } ?? .distantFuture
            return
        }
        guard rhythm.duration == nil else {
            due = nextOnGrid(now: now, wall: wall)
            return
        }
        guard !isSlowed else {
            due = now + interval
            return
        }
        // At full speed frames keep to their grid. An early push has shown the next due frame
        // already.
        guard due <= now else {
            if showsNew { due = due + interval }
            return
        }
        let late = (now - due).nanoseconds / max(1, interval.nanoseconds)
        due = due + interval.times(late) + interval
    }

    /// The next sample of a clip that plays once: even steps from its start; the last is its end.
    private func nextOnGrid(now: Instant, wall: Instant) -> Instant {
        guard hasBegun(at: wall) else { return beginning(now: now, wall: wall) }
        let elapsed = elapsed(at: wall)
        let length = rhythm.duration ?? .zero
        let step = max(1, interval.nanoseconds)
        let next = Self.floor(elapsed, to: interval) + Span(nanoseconds: step)
        // Tolerate the few nanoseconds that rounding leaves.
        let end = next > length - Span(nanoseconds: step / 2) ? length : next
        return now + max(.zero, end - elapsed)
    }

    /// True if frames are left out; between keyframes the phone shows them by itself.
    private var isSlowed: Bool { fit == .step && interval > rhythm.every }

    // MARK: Counting

    /// Number of frames requested until an instant, by the producer's clock.
    private func asked(at wall: Instant) -> Int64 {
        guard hasBegun(at: wall) else { return 0 }
        return rhythm.asked(after: playing.elapsed(at: wall))
    }

    /// When the first or a loop's next frame is requested; nil if one waits already.
    func nextAsked(now: Instant, wall: Instant) -> Instant? {
        guard hasBegun(at: wall) else { return beginning(now: now, wall: wall) }
        guard rhythm.duration == nil, asked(at: wall) <= counted else { return nil }
        let every = rhythm.every.nanoseconds
        let elapsed = max(0, playing.elapsed(at: wall).nanoseconds)
        return now + Span(nanoseconds: every - elapsed % every)
    }

    /// Decides about every frame requested so far.
    ///
    /// - Parameter rest: number of newest frames that are left for the next push.
    mutating func account(at wall: Instant, but rest: Int64 = 0) {
        let new = asked(at: wall) - counted - rest
        switch mode {
        case .running where isBundleThere: add(new, .sent, at: wall)
        case .running: add(new, fit == .keyframes ? .merged : .slowed, at: wall)
        case .hidden: add(new, .hidden, at: wall)
        case .paused: add(new, .paused, at: wall)
        case .noRoute: add(new, .noRoute, at: wall)
        }
    }

    private mutating func add(_ count: Int64, _ decision: FrameDecision, at wall: Instant) {
        guard count > 0 else { return }
        tally.add(count, decision)
        tally.time = tally.time + time(of: count)
        counted += count
        seconds.add(count, decision, at: wall)
    }

    private func time(of count: Int64) -> Span { rhythm.every.times(count) }

    /// A copy in which every frame requested until an instant is counted.
    func accounted(at wall: Instant) -> FrameCursor {
        var copy = self
        copy.account(at: wall)
        return copy
    }

    /// The growth of the tally since the last call in another minute; nil within a minute.
    ///
    /// - Parameter isLast: true at the clip's end, even within a minute.
    mutating func takeNews(at wall: Instant, isLast: Bool = false) -> FrameCounts? {
        let minute = floorDivide(wall.seconds, 60)
        guard isLast || minute != recordedMinute else { return nil }
        let isFirst = recordedMinute == nil && !isLast
        recordedMinute = minute
        guard !isFirst, tally != recorded else { return nil }
        defer { recorded = tally }
        return tally - recorded
    }

    /// The tally at an instant, without changing the cursor.
    func counts(at wall: Instant) -> FrameCounts { accounted(at: wall).tally }
}
