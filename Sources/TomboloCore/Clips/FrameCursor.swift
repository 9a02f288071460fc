import TomboloJSON

/// How far a clip has come at one destination, and what became of every frame that was asked for.
struct FrameCursor: Sendable {
    /// Why frames go, or do not.
    enum Mode: UInt8, Hashable, Sendable {
        case running
        /// The app is in front (rule 12).
        case hidden
        /// An operator's pause (rule 16).
        case paused
        /// There is no card yet, or none any more.
        case noRoute
    }

    /// The clip itself: it is counted up after the projection has lost it.
    private(set) var playing: PlayingClip
    /// Never `auto`.
    let fit: Clip.Fit
    private(set) var mode = Mode.running
    /// Time as this phone has seen the clip: it stands still where the clip's clock is `shown`.
    private var clock: ClipClock
    /// When the next frame should go.
    var due: Instant
    /// The interval that `due` was reckoned with, and the granted one that it comes from.
    private(set) var interval: Span
    private(set) var granted: Span
    /// The phone has all frames and plays them.
    private var isBundleThere = false
    private(set) var lastPush = Instant.distantPast
    /// Frames that were shown: the k-th of a loop is frame k mod n.
    private(set) var pushed: Int64 = 0
    /// The clip's time of the frame that was shown last.
    private(set) var shownAt: Span?
    /// The same of the one before: the last push may be lost.
    private(set) var shownBefore: Span?
    /// Frames asked for that have their decision.
    private(set) var counted: Int64 = 0
    /// Their decisions.
    private(set) var tally = FrameCounts()
    /// The same by the second, for the last minute.
    private(set) var seconds = FrameSeconds()
    /// What of the tally is on record, and in which minute that was noted.
    private var recorded = FrameCounts()
    private var recordedMinute: Int64?

    /// Of the clip, which lies elsewhere.
    private let rhythm: ClipRhythm

    var version: Int64 { playing.version }
    var clip: Clip { _read { yield playing.clip } }

    /// A clip that begins here. Frames asked for before had no route.
    ///
    /// - Parameter before: the clip that played here until now. A loop of the same frames goes on
    ///   from the frame that this phone shows.
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

    /// A clip that a relay before this one has begun.
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
        // What was asked for while no relay ran had no route either.
        let missed = max(0, asked(at: wall) - 1 - counted)
        add(missed, .noRoute, at: wall)
    }

    // MARK: Time

    /// The clip's time at this destination.
    func elapsed(at wall: Instant) -> Span { clock.elapsed(at: wall) }

    /// The wall clock was set back: the clip goes on from where it is.
    mutating func followClock(by step: Span) {
        playing.startedAt = playing.startedAt + step
        clock.move(by: step)
    }

    /// Whether its first frame has been asked for. It may lie a little ahead after a restart.
    private func hasBegun(at wall: Instant) -> Bool { wall >= playing.startedAt }

    /// When its first frame will be asked for.
    private func beginning(now: Instant, wall: Instant) -> Instant {
        now + (playing.startedAt - wall)
    }

    /// Whether it has come to its end here; a loop never does.
    func isOver(at wall: Instant) -> Bool {
        rhythm.duration.map { elapsed(at: wall) >= $0 } ?? false
    }

    /// Whether nothing of it was shown here yet.
    var isAtFirst: Bool { pushed == 0 && shownAt == nil }

    /// Whether the end of the clip has been shown: of a flip-book, its last frame.
    var hasShownEnd: Bool { isEnd(shownAt) }

    /// Whether a push now shows the end of the clip.
    func showsEnd(at wall: Instant) -> Bool { isEnd(frame(at: wall)) }

    private func isEnd(_ frame: Span?) -> Bool {
        guard let duration = rhythm.duration, let frame else { return false }
        return frame + (rhythm.loop == nil ? .zero : rhythm.every) >= duration
    }

    /// Whether a push now shows a frame of its own, and not the one before.
    func moves(at wall: Instant) -> Bool { mode == .running || isOver(at: wall) }

    /// Frames go, or stop going, from now on.
    mutating func enter(_ mode: Mode, now: Instant, wall: Instant) {
        guard mode != self.mode else { return }
        // Where it goes on, the next frame is shown at once: the newest that was asked for.
        let isNext = mode == .running && asked(at: wall) > counted
        account(at: wall, but: isNext ? 1 : 0)
        self.mode = mode
        isBundleThere = false
        if clip.clock == .shown { clock.run(mode == .running, at: wall) }
        if isNext { due = now }
    }

    /// Follows a change of the granted interval: it goes on from the frame shown.
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

    /// The clip's time of the frame that a push shows now. A hidden or paused clip stays as it is;
    /// nil where nothing of it was shown yet.
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
        // A push goes a few milliseconds late: it shows a frame that was asked for, not one between
        // two. The first is then what the phone shows already, and costs nothing.
        let sample = Self.floor(elapsed, to: interval)
        guard fit == .keyframes, hasBegun(at: wall) else {
            return max(sample, Self.floor(elapsed, to: rhythm.every))
        }
        // The phone moves towards a keyframe until the next one comes; rounding leaves a few
        // nanoseconds over.
        let end = sample + interval
        return end > duration - Span(nanoseconds: interval.nanoseconds / 2) ? duration : end
    }

    private static func floor(_ span: Span, to step: Span) -> Span {
        let step = max(1, step.nanoseconds)
        return Span(nanoseconds: span.nanoseconds / step * step)
    }

    /// When the phone is to have come to the keyframe that a push shows now; nil of anything else.
    /// A tween's last value is a state: nothing stands beside it.
    func keyframeReached(at wall: Instant) -> Instant? {
        guard fit == .keyframes, mode == .running, hasBegun(at: wall),
            let duration = rhythm.duration, let end = frame(at: wall), end < duration
        else { return nil }
        return wall + (end - elapsed(at: wall))
    }

    /// When it comes to its end here; nil of a loop, and while its clock stands still.
    func end(now: Instant, wall: Instant) -> Instant? {
        guard clock.isRunning, let duration = rhythm.duration else { return nil }
        return now + max(.zero, duration - elapsed(at: wall))
    }

    /// The clip's time of the frame that the phone keeps when the clip ends with its activity at an
    /// instant: a bundle has played on since it was pushed.
    func kept(at wall: Instant) -> Span? { isBundleThere ? elapsed(at: wall) : shownAt }

    /// When a bundle that goes now would have shown its first frame; nil where none is to go.
    func bundleBegan(at wall: Instant) -> Instant? {
        guard fit == .bundle, mode == .running, !isOver(at: wall) else { return nil }
        return wall - elapsed(at: wall)
    }

    /// A push showed `frame`: it counts as one frame, if one was asked for since the last.
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

    /// The last push is lost, as far as anybody knows. A frame is made good by the next; where none
    /// comes after it, it is due once more.
    ///
    /// - Parameter wasKnown: it brought no newer version: nothing else makes it go again.
    mutating func lost(wasKnown: Bool, now: Instant) {
        if hasShownEnd { shownAt = shownBefore }
        guard wasKnown, isBundleThere else { return }
        isBundleThere = false
        due = now
    }

    /// The frame that is due is what the phone shows already: no push is spent.
    mutating func skipUnchanged(now: Instant, wall: Instant) {
        guard moves(at: wall) else { return }
        shownAt = frame(at: wall)
        let new = asked(at: wall) - counted
        add(new - 1, isSlowed ? .slowed : .merged, at: wall)
        add(min(1, new), .unchanged, at: wall)
        let isFirst = pushed == 0
        if new > 0 { pushed += 1 }
        schedule(showsNew: new > 0, now: now, wall: wall)
        // It costs nothing: the one after it is the first that moves, and waits for no budget.
        if isFirst, rhythm.duration == nil { due = min(due, now + rhythm.every) }
    }

    private mutating func schedule(showsNew: Bool, now: Instant, wall: Instant) {
        lastPush = now
        guard !isBundleThere else {
            // The phone plays on by itself; what plays once has a last value for all that.
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
        // At full speed frames keep to their grid. A push that came early has shown the frame that
        // was due next.
        guard due <= now else {
            if showsNew { due = due + interval }
            return
        }
        let late = (now - due).nanoseconds / max(1, interval.nanoseconds)
        due = due + interval.times(late) + interval
    }

    /// One-shots are sampled evenly from their beginning; the last sample is their end.
    private func nextOnGrid(now: Instant, wall: Instant) -> Instant {
        guard hasBegun(at: wall) else { return beginning(now: now, wall: wall) }
        let elapsed = elapsed(at: wall)
        let length = rhythm.duration ?? .zero
        let step = max(1, interval.nanoseconds)
        let next = Self.floor(elapsed, to: interval) + Span(nanoseconds: step)
        // Rounding leaves a few nanoseconds over.
        let end = next > length - Span(nanoseconds: step / 2) ? length : next
        return now + max(.zero, end - elapsed)
    }

    /// Between keyframes the phone shows the frames all the same.
    private var isSlowed: Bool { fit == .step && interval > rhythm.every }

    // MARK: Counting

    /// Frames asked for by an instant, by the producer's clock.
    private func asked(at wall: Instant) -> Int64 {
        guard hasBegun(at: wall) else { return 0 }
        return rhythm.asked(after: playing.elapsed(at: wall))
    }

    /// When the first frame will be asked for, or a loop's next one; nil where one waits already.
    func nextAsked(now: Instant, wall: Instant) -> Instant? {
        guard hasBegun(at: wall) else { return beginning(now: now, wall: wall) }
        guard rhythm.duration == nil, asked(at: wall) <= counted else { return nil }
        let every = rhythm.every.nanoseconds
        let elapsed = max(0, playing.elapsed(at: wall).nanoseconds)
        return now + Span(nanoseconds: every - elapsed % every)
    }

    /// Gives every frame asked for so far its decision.
    ///
    /// - Parameter rest: so many of the newest are left for the next push.
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

    /// The cursor with every frame that was asked for by an instant counted.
    func accounted(at wall: Instant) -> FrameCursor {
        var copy = self
        copy.account(at: wall)
        return copy
    }

    /// What has come to the tally since it was taken last, in another minute; nil within one.
    ///
    /// - Parameter isLast: the clip ends here, within a minute or not.
    mutating func takeNews(at wall: Instant, isLast: Bool = false) -> FrameCounts? {
        let minute = floorDivide(wall.seconds, 60)
        guard isLast || minute != recordedMinute else { return nil }
        let isFirst = recordedMinute == nil && !isLast
        recordedMinute = minute
        guard !isFirst, tally != recorded else { return nil }
        defer { recorded = tally }
        return tally - recorded
    }

    /// The tally as it stands at an instant, without keeping it.
    func counts(at wall: Instant) -> FrameCounts { accounted(at: wall).tally }
}
