/// How far one destination is in a clip, and what became of each frame that the clip requested.
struct FrameCursor: Sendable {
    enum Mode: UInt8, Hashable, Sendable {
        case running
        /// The app is in front (rule 12).
        case hidden
        /// An operator's pause (rule 16).
        case paused
        /// There is no card yet, or no card any more.
        case noRoute
    }

    /// The clip. It is kept here, so that its frames are counted after the projection has dropped
    /// it.
    private(set) var playing: PlayingClip
    /// How frames become pushes: never `auto`.
    let fit: Clip.Fit
    private(set) var mode = Mode.running
    /// The clip's time on this phone. With `clock: shown` it stops while the phone shows no frames.
    private var clock: ClipClock
    /// When the next frame should be sent.
    var due: Instant
    /// The interval between frames, and the granted interval from which it was computed.
    private(set) var interval: Span
    private(set) var granted: Span
    /// True if the phone has all frames and plays them by itself.
    private var isBundleThere = false
    private(set) var lastPush = Instant.distantPast
    /// Number of frames shown: the next frame of a loop of n frames is frame `pushed` mod n.
    private(set) var pushed: Int64 = 0
    /// The clip's time of the frame that was shown last.
    private(set) var shownAt: Span?
    /// The clip's time of the frame shown before it, needed if the last push is lost.
    private(set) var shownBefore: Span?
    /// Number of requested frames that are counted in `tally`.
    private(set) var counted: Int64 = 0
    /// How many frames had each decision.
    private(set) var tally = FrameCounts()
    /// The same for each second of the last minute.
    private(set) var seconds = FrameSeconds()
    /// The part of `tally` that is in the log, and the minute in which it was written there.
    private var recorded = FrameCounts()
    private var recordedMinute: Int64?

    /// The clip's timing, copied here because reading it through the shared clip is slower.
    private let rhythm: ClipRhythm

    var version: Int64 { playing.version }
    var clip: Clip { _read { yield playing.clip } }

    /// A clip that begins at this destination. Frames requested earlier count as `noRoute`.
    ///
    /// - Parameter before: the cursor of the clip that played here until now. A loop with the same
    ///   frames continues after the frame that this phone shows.
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

    /// Restores a clip that began before the relay was restarted.
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
        // Frames requested while no relay ran count as `noRoute`, too.
        let missed = max(0, asked(at: wall) - 1 - counted)
        add(missed, .noRoute, at: wall)
    }

    // MARK: Time

    func elapsed(at wall: Instant) -> Span { clock.elapsed(at: wall) }

    /// Corrects the clip's start after the wall clock was set back by `step`, so that the clip goes
    /// on.
    mutating func followClock(by step: Span) {
        playing.startedAt = playing.startedAt + step
        clock.move(by: step)
    }

    /// True if the first frame was requested. The start may be slightly ahead after a restart.
    private func hasBegun(at wall: Instant) -> Bool { wall >= playing.startedAt }

    private func beginning(now: Instant, wall: Instant) -> Instant {
        now + (playing.startedAt - wall)
    }

    func isOver(at wall: Instant) -> Bool {
        rhythm.duration.map { elapsed(at: wall) >= $0 } ?? false
    }

    var isAtFirst: Bool { pushed == 0 && shownAt == nil }

    /// True if the end of the clip was shown; for a flip-book, its last frame.
    var hasShownEnd: Bool { isEnd(shownAt) }

    func showsEnd(at wall: Instant) -> Bool { isEnd(frame(at: wall)) }

    private func isEnd(_ frame: Span?) -> Bool {
        guard let duration = rhythm.duration, let frame else { return false }
        return frame + (rhythm.loop == nil ? .zero : rhythm.every) >= duration
    }

    /// True if a push now shows a new frame instead of the last one again.
    func moves(at wall: Instant) -> Bool { mode == .running || isOver(at: wall) }

    /// Sets whether frames are sent from now on, and counts the frames until now in the old mode.
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

    /// Sets the granted interval. The clip continues from the frame that is shown.
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
    /// nil if it has shown none.
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
        // Round down to a requested frame, because a push goes out a few milliseconds late. The
        // first frame is then often the one that the phone shows already; it needs no push.
        let sample = Self.floor(elapsed, to: interval)
        guard fit == .keyframes, hasBegun(at: wall) else {
            return max(sample, Self.floor(elapsed, to: rhythm.every))
        }
        // A keyframe push carries the value at the end of its part, because the phone animates
        // there. Rounding may leave a few nanoseconds: treat them as the end.
        let end = sample + interval
        return end > duration - Span(nanoseconds: interval.nanoseconds / 2) ? duration : end
    }

    private static func floor(_ span: Span, to step: Span) -> Span {
        let step = max(1, step.nanoseconds)
        return Span(nanoseconds: span.nanoseconds / step * step)
    }

    /// When the phone should reach the value of the keyframe that a push shows now. Nil for other
    /// clips, and for a tween's last value.
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

    /// The clip's time of the frame that the phone keeps if the activity ends now. A phone that has
    /// a bundle has played on since the push.
    func kept(at wall: Instant) -> Span? { isBundleThere ? elapsed(at: wall) : shownAt }

    /// When a phone would have shown the first frame of a bundle; nil if no bundle is sent now.
    func bundleBegan(at wall: Instant) -> Instant? {
        guard fit == .bundle, mode == .running, !isOver(at: wall) else { return nil }
        return wall - elapsed(at: wall)
    }

    /// Counts a push that showed `frame` as one sent frame, if a new frame was requested.
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

    /// Handles a push that is probably lost. A later frame replaces its frame; if it showed the
    /// clip's end, that must be shown again. A lost bundle is due at once.
    ///
    /// - Parameter wasKnown: true if the push had no newer version, so that no other push repeats
    ///   it.
    mutating func lost(wasKnown: Bool, now: Instant) {
        if hasShownEnd { shownAt = shownBefore }
        guard wasKnown, isBundleThere else { return }
        isBundleThere = false
        due = now
    }

    /// Skips the due frame without a push, because the phone shows the same value already.
    mutating func skipUnchanged(now: Instant, wall: Instant) {
        guard moves(at: wall) else { return }
        shownAt = frame(at: wall)
        let new = asked(at: wall) - counted
        add(new - 1, isSlowed ? .slowed : .merged, at: wall)
        add(min(1, new), .unchanged, at: wall)
        let isFirst = pushed == 0
        if new > 0 { pushed += 1 }
        schedule(showsNew: new > 0, now: now, wall: wall)
        // A skipped frame costs no budget, so the next frame, the first that differs, need not
        // wait.
        if isFirst, rhythm.duration == nil { due = min(due, now + rhythm.every) }
    }

    private mutating func schedule(showsNew: Bool, now: Instant, wall: Instant) {
        lastPush = now
        guard !isBundleThere else {
            // The phone plays by itself; only the last value of a clip that plays once must be
            // sent.
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
        // At full speed, frames stay on their grid. If a push came early, it has shown the next due
        // frame: go one step further.
        guard due <= now else {
            if showsNew { due = due + interval }
            return
        }
        let late = (now - due).nanoseconds / max(1, interval.nanoseconds)
        due = due + interval.times(late) + interval
    }

    /// Time of the next sample of a clip that plays once. Samples are evenly spaced; the last is
    /// the end.
    private func nextOnGrid(now: Instant, wall: Instant) -> Instant {
        guard hasBegun(at: wall) else { return beginning(now: now, wall: wall) }
        let elapsed = elapsed(at: wall)
        let length = rhythm.duration ?? .zero
        let step = max(1, interval.nanoseconds)
        let next = Self.floor(elapsed, to: interval) + Span(nanoseconds: step)
        // Rounding may leave a few nanoseconds before the end: treat them as the end.
        let end = next > length - Span(nanoseconds: step / 2) ? length : next
        return now + max(.zero, end - elapsed)
    }

    /// True if the budget leaves out frames. Keyframes leave out none: the phone shows them by
    /// itself.
    private var isSlowed: Bool { fit == .step && interval > rhythm.every }

    // MARK: Counting

    /// Number of frames that the clip has requested until an instant of the wall clock.
    private func asked(at wall: Instant) -> Int64 {
        guard hasBegun(at: wall) else { return 0 }
        return rhythm.asked(after: playing.elapsed(at: wall))
    }

    /// When the clip's first frame, or the next frame of a loop, is requested; nil if one waits
    /// already.
    func nextAsked(now: Instant, wall: Instant) -> Instant? {
        guard hasBegun(at: wall) else { return beginning(now: now, wall: wall) }
        guard rhythm.duration == nil, asked(at: wall) <= counted else { return nil }
        let every = rhythm.every.nanoseconds
        let elapsed = max(0, playing.elapsed(at: wall).nanoseconds)
        return now + Span(nanoseconds: every - elapsed % every)
    }

    /// Counts every frame requested so far by its decision.
    ///
    /// - Parameter rest: number of newest frames to leave for the next push.
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

    /// A copy in which all frames requested until `wall` are counted.
    func accounted(at wall: Instant) -> FrameCursor {
        var copy = self
        copy.account(at: wall)
        return copy
    }

    /// How much `tally` has grown since the last call, to be written to the log once a minute. Nil
    /// if the minute is the same, on the first call, and if nothing has grown.
    ///
    /// - Parameter isLast: true at the clip's end; then the minute does not matter.
    mutating func takeNews(at wall: Instant, isLast: Bool = false) -> FrameCounts? {
        let minute = floorDivide(wall.seconds, 60)
        guard isLast || minute != recordedMinute else { return nil }
        let isFirst = recordedMinute == nil && !isLast
        recordedMinute = minute
        guard !isFirst, tally != recorded else { return nil }
        defer { recorded = tally }
        return tally - recorded
    }

    func counts(at wall: Instant) -> FrameCounts { accounted(at: wall).tally }
}
