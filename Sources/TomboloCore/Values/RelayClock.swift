/// The relay's two clocks. They are made from the machine's wall clock, which people and time
/// servers adjust, and from its monotonic clock, which nobody adjusts.
///
/// The relay's *monotonic* time (`steady`) is the wall time of the first start, advanced by the
/// monotonic clock and never adjusted. Spacings and buckets use it, so that no step of the wall
/// clock allows more pushes. If the machine was not rebooted, the next relay continues it
/// (`Reading`), also on another machine if a database says how much time has passed; after a
/// reboot, the time between does not count. *Wall* time is monotonic time plus a lead. The lead is
/// set at start from the machine's clock, and follows it: at once if it is at most `leadMax` ahead
/// of the start's lead, else when the step has lasted `stepHeld`. So does a step back. A card whose
/// phone has later timestamps continues from those (`TakenTimestamps`).
package struct RelayClock: Sendable {
    /// A wall clock that goes ahead by at most this is followed at once. Time servers correct by
    /// less, and phones accept it.
    package static let leadMax = Span.seconds(60)
    /// A larger step, or a step back, is followed after it has lasted this long.
    package static let stepHeld = Span.seconds(60)
    /// A difference back below this comes from the reading itself, and is ignored.
    package static let backMin = Span.seconds(1)
    /// If the wall clock is this far behind the timestamps of cards, people must look at it: phones
    /// drop updates that are a minute old.
    package static let behindMax = Span.seconds(60)

    /// A timestamp may be at most this much later than the clock reading in the log. After a crash,
    /// the next relay knows only by this how late timestamps can be. So the first pushes may have
    /// to wait this long after a restart, and pushes must wait if the log could not be written for
    /// this long.
    package static let reach = Span.seconds(30)
    /// A checkpoint may be older than the clock reading by at most this.
    static let checkpointLag = Span.seconds(3)

    private let steadyAtStart: Instant
    private let monotonicAtStart: Int64
    /// The lead at the start, or after the last large step that was followed.
    private var leadAtStart: Span
    /// Since when the wall clock is too far ahead to be followed at once; nil: it is not.
    private var stepSince: Instant?
    /// Since when the wall clock is behind; nil: it is not.
    private var backSince: Instant?
    /// How far the machine's clock is behind the relay's, or behind the timestamps of running
    /// cards; zero if it is not behind.
    package private(set) var behind = Span.zero
    /// The newest timestamp of a running card if it was far ahead of the clock; else `distantPast`.
    private var told = Instant.distantPast
    private var comparedAt = Instant.distantPast
    private var latest: Instant
    package private(set) var lead: Span
    /// The leads of this relay and of those before it.
    package private(set) var leads: LeadHistory
    /// What is known of the last relay's clock; nil if there was no relay before.
    package let before: Predecessor?
    /// How far the machine's clock was set forward (negative: back) since the last relay ran; zero
    /// after a reboot, and for a step of at most `leadMax`.
    package let stepAtStart: Span

    /// The clock of a first relay, or one that continues from the last relay's reading.
    ///
    /// - Parameters:
    ///   - wall: the machine's wall clock.
    ///   - monotonic: the machine's monotonic clock, in nanoseconds from any origin.
    ///   - boot: identifies this origin, because readings of different boots cannot be compared.
    ///     Empty: not known.
    ///   - elsewhere: what the clock of the last relay says now, if that ran on another machine and
    ///     this is known.
    package init(
        wall: Instant, monotonic: Int64, boot: String = "", after last: Reading? = nil,
        elsewhere: Int64? = nil
    ) {
        let isHere = last.map { !boot.isEmpty && $0.boot == boot } ?? false
        let reading = isHere ? monotonic : elsewhere
        var passed = Span.zero
        if let last, let reading, reading >= last.monotonic {
            passed = Span(nanoseconds: reading) - Span(nanoseconds: last.monotonic)
        }
        steadyAtStart = last.map { $0.steady + passed } ?? wall
        monotonicAtStart = monotonic
        latest = steadyAtStart
        leadAtStart = wall - steadyAtStart
        lead = leadAtStart
        leads = last?.leads ?? LeadHistory()
        let isContinued = isHere || last != nil && elsewhere != nil
        leads.note(
            lead, at: steadyAtStart,
            afterGap: isContinued ? nil : last.map { wall - ($0.steady + $0.lead) })
        let step = last.map { wall - ($0.steady + passed + $0.lead) } ?? .zero
        stepAtStart = isContinued && max(step, .zero - step) > Self.leadMax ? step : .zero
        before = last.map { last in
            let (reading, most) = (last.steady + last.lead, last.toldThrough)
            let through = isContinued ? min(most, reading + passed) : most
            return Predecessor(
                reading: reading, toldThrough: through, steadyThrough: through - last.lead,
                endedInOrder: last.isLast, wasBehind: isContinued && step > Self.leadMax)
        }
    }

    /// How late the timestamps of the last relay can be.
    package struct Predecessor: Hashable, Sendable {
        /// The wall time of its last reading in the log.
        package var reading: Instant
        /// The latest wall time that its timestamps can have.
        package var toldThrough: Instant
        /// True if it wrote all that it knew before it ended, so that nothing must be guessed.
        package var endedInOrder: Bool
        /// True if the machine's clock was set forward since, without a reboot.
        package var wasBehind: Bool
        /// The monotonic time until which it can have sent something; nil: not known.
        private var steadyThrough: Instant?
        /// True if pushes of any time before that can be missing in the log, for it was restored.
        private var isRestored: Bool

        /// - Parameter endedInOrder: true if its last reading has `isLast`.
        package init(
            reading: Instant, toldThrough: Instant, steadyThrough: Instant? = nil,
            endedInOrder: Bool = false, wasBehind: Bool = false, isRestored: Bool = false
        ) {
            (self.reading, self.toldThrough) = (reading, toldThrough)
            (self.endedInOrder, self.wasBehind) = (endedInOrder, wasBehind)
            (self.steadyThrough, self.isRestored) = (steadyThrough, isRestored)
        }

        /// For how long pushes to a card can have gone that its checkpoint does not have.
        ///
        /// - Parameter last: the monotonic time of the last push that it has.
        func unrecorded(since last: Instant) -> Span {
            let most = isRestored ? activityLifeMax : RelayClock.reach + RelayClock.checkpointLag
            guard let steadyThrough, last > .distantPast else { return most }
            return min(most, max(.zero, steadyThrough - last))
        }
    }

    /// The relay's monotonic time now. It never goes back.
    package mutating func steady(monotonic: Int64) -> Instant {
        latest = max(latest, steadyAtStart + Span(nanoseconds: monotonic &- monotonicAtStart))
        return latest
    }

    /// True if the machine's clock is so far behind that people must look at it.
    package var isSetBack: Bool { behind > Self.behindMax }

    /// A sentence about such a clock and its remedy, without the article at its beginning.
    package static func trouble(behind: Span) -> String {
        "machine's clock is \(behind.roundedText) behind the timestamps that cards on phones have: "
            + "if it is wrong, set it right, for phones drop what is a minute old; if it is right, "
            + "do nothing: these cards go on from their newest timestamps"
    }

    /// True if the clock is so far behind that times of other machines are believed instead.
    package var isFarBehind: Bool { behind > .minutes(5) }

    /// Compares the clock with the newest timestamp of running cards. Call it at the start, after a
    /// step back, and then each minute while the clock is behind.
    ///
    /// Differences up to `leadMax` do not count, because a crash or a time server can cause them.
    package mutating func compare(with newest: Instant?, wall: Instant) {
        comparedAt = latest
        told = newest.map { $0 - wall > Self.leadMax ? $0 : .distantPast } ?? .distantPast
        measure(wall: wall)
    }

    /// True if the comparison must be repeated, because cards end and others begin.
    package var isToBeCompared: Bool {
        told != .distantPast && latest - comparedAt >= Self.stepHeld
    }

    private mutating func measure(wall: Instant) {
        behind = max(.zero, (latest + lead) - wall, told - wall)
    }

    /// Reads the wall clock. Returns true if `lead` has changed.
    package mutating func follow(wall: Instant, monotonic: Int64) -> Bool {
        let now = steady(monotonic: monotonic)
        defer { measure(wall: wall) }
        let ahead = wall - now
        guard lead - ahead < Self.backMin else {
            stepSince = nil
            return stepBack(to: ahead, now: now)
        }
        backSince = nil
        let most = leadAtStart + Self.leadMax
        guard ahead > most else {
            stepSince = nil
            guard ahead > lead else { return false }
            lead = ahead
            return true
        }
        guard let since = stepSince, now - since >= Self.stepHeld else {
            stepSince = stepSince ?? now
            defer { lead = most }
            return lead != most
        }
        step(to: ahead, now: now)
        return true
    }

    /// When to read the wall clock if nothing else is due, so that no step is missed.
    ///
    /// - Parameter monotonic: the machine's monotonic clock, as at the start. So is the result.
    package static func nextLook(after monotonic: Int64) -> Int64 {
        (monotonic / stepHeld.nanoseconds + 1) * stepHeld.nanoseconds
    }

    private mutating func stepBack(to ahead: Span, now: Instant) -> Bool {
        guard let since = backSince, now - since >= Self.stepHeld else {
            backSince = backSince ?? now
            return false
        }
        step(to: ahead, now: now)
        return true
    }

    private mutating func step(to ahead: Span, now: Instant) {
        (lead, leadAtStart, stepSince, backSince) = (ahead, ahead, nil, nil)
        leads.note(lead, at: now)
    }
}
