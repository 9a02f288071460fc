/// The relay's two clocks, made from the machine's: a wall clock that people and time servers
/// adjust, and a monotonic clock that nobody adjusts.
///
/// The relay's *monotonic* time (`steady`) is the wall time at the first start, advanced by the
/// monotonic clock and never corrected. Spacings and buckets are counted in it, so that no step of
/// the wall clock opens a window twice. A later relay on the same boot of the machine continues it
/// (`Reading`); after another boot the time between is unknown and not counted. *Wall* time is
/// monotonic time plus a lead. The lead is set by the machine's clock at start, and follows that
/// clock: up to `leadMax` ahead at once, and every longer step, forwards or back, as a whole once
/// it has lasted `stepHeld`. A card whose phone has later timestamps continues from those
/// (`TakenTimestamps`).
package struct RelayClock: Sendable {
    /// How far a wall clock ahead is followed at once: more than time servers correct by, less than
    /// a phone would notice.
    package static let leadMax = Span.seconds(60)
    /// How long a longer step, or one back, must last until it is followed as a whole.
    package static let stepHeld = Span.seconds(60)
    /// A difference back below this is one of readings, and no step.
    package static let backMin = Span.seconds(1)
    /// A wall clock this far behind the timestamps of cards needs attention: phones drop updates
    /// that are a minute old.
    package static let behindMax = Span.seconds(60)

    /// How much later than the reading on record a timestamp may be. After a crash, also after
    /// another boot, the next relay knows only by this how far timestamps can have come. So it is
    /// also the longest wait of the first pushes if the machine restarts at once, and the time for
    /// which the log may be full before pushes wait.
    package static let reach = Span.seconds(30)

    private let steadyAtStart: Instant
    private let monotonicAtStart: Int64
    /// The lead at start, or when a long step was followed.
    private var leadAtStart: Span
    /// Since when the wall clock is further ahead than is followed at once.
    private var stepSince: Instant?
    /// Since when the wall clock is behind.
    private var backSince: Instant?
    /// How far the machine's clock is behind the relay's, or behind the timestamps of running
    /// cards; zero if it is not.
    package private(set) var behind = Span.zero
    /// The newest timestamp of a running card, if it was ahead of the clock.
    private var told = Instant.distantPast
    private var comparedAt = Instant.distantPast
    private var latest: Instant
    package private(set) var lead: Span
    /// The leads of this relay and of those before.
    package private(set) var leads: LeadHistory
    /// The clock of the relay before, as of this start; nil if there was none.
    package let before: Predecessor?
    /// By how much the machine's clock was set forward (negative: back) since the relay before, on
    /// one boot; zero for a step that is followed at once.
    package let stepAtStart: Span

    /// The first relay's clock, or one that continues from another's last reading.
    ///
    /// - Parameters:
    ///   - wall: the machine's wall clock.
    ///   - monotonic: the machine's monotonic clock in nanoseconds, from any origin.
    ///   - boot: names that origin; readings of different boots are not compared. Empty: unknown.
    package init(
        wall: Instant, monotonic: Int64, boot: String = "", after last: Reading? = nil
    ) {
        var passed = Span.zero
        if let last, !boot.isEmpty, last.boot == boot, monotonic >= last.monotonic {
            passed = Span(nanoseconds: monotonic) - Span(nanoseconds: last.monotonic)
        }
        steadyAtStart = last.map { $0.steady + passed } ?? wall
        monotonicAtStart = monotonic
        latest = steadyAtStart
        leadAtStart = wall - steadyAtStart
        lead = leadAtStart
        leads = last?.leads ?? LeadHistory()
        leads.note(lead, at: steadyAtStart)
        let isSameBoot = last.map { !boot.isEmpty && $0.boot == boot } ?? false
        let step = last.map { wall - ($0.steady + passed + $0.lead) } ?? .zero
        stepAtStart = isSameBoot && max(step, .zero - step) > Self.leadMax ? step : .zero
        before = last.map { last in
            let (reading, told) = (last.steady + last.lead, last.toldThrough)
            return Predecessor(
                reading: reading, toldThrough: isSameBoot ? min(told, reading + passed) : told,
                endedInOrder: last.isLast, wasBehind: isSameBoot && step > Self.leadMax)
        }
    }

    /// How far the timestamps of the relay before can have come.
    package struct Predecessor: Hashable, Sendable {
        /// Its last reading of the wall clock on record.
        package var reading: Instant
        /// The latest wall time that it can have put into a timestamp.
        package var toldThrough: Instant
        /// It wrote all that it knew before it ended: nothing must be guessed.
        package var endedInOrder: Bool
        /// The machine's clock was set forward since then, on the same boot.
        package var wasBehind: Bool

        /// - Parameter endedInOrder: whether its last reading is marked so.
        package init(
            reading: Instant, toldThrough: Instant, endedInOrder: Bool = false,
            wasBehind: Bool = false
        ) {
            (self.reading, self.toldThrough) = (reading, toldThrough)
            (self.endedInOrder, self.wasBehind) = (endedInOrder, wasBehind)
        }
    }

    /// The relay's monotonic time now. Never less than the last returned.
    package mutating func steady(monotonic: Int64) -> Instant {
        latest = max(latest, steadyAtStart + Span(nanoseconds: monotonic &- monotonicAtStart))
        return latest
    }

    /// Whether the machine's clock is so far behind that it needs attention.
    package var isSetBack: Bool { behind > Self.behindMax }

    /// A sentence on a clock that is so far behind, with the remedy; to follow an article.
    package static func trouble(behind: Span) -> String {
        "machine's clock is \(behind.roundedText) behind the timestamps that cards on phones have: "
            + "if it is wrong, set it right, for phones drop what is a minute old; if it is right, "
            + "do nothing: these cards go on from their newest timestamps"
    }

    /// Whether it is so far behind that times from others are believed instead.
    package var isFarBehind: Bool { behind > .minutes(5) }

    /// Compares the clock with the newest timestamp of a running card: at the start, after a step
    /// back, and each minute while it is behind.
    ///
    /// Differences that a crash or a time server's correction can cause are no fault.
    package mutating func compare(with newest: Instant?, wall: Instant) {
        comparedAt = latest
        told = newest.map { $0 - wall > Self.leadMax ? $0 : .distantPast } ?? .distantPast
        measure(wall: wall)
    }

    /// Cards end and others begin, so while the clock is behind them they are compared again.
    package var isToBeCompared: Bool {
        told != .distantPast && latest - comparedAt >= Self.stepHeld
    }

    private mutating func measure(wall: Instant) {
        behind = max(.zero, (latest + lead) - wall, told - wall)
    }

    /// Reads the wall clock. Returns whether `lead` changed.
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

    /// When to read the wall clock if nothing else is due, because a step that is not read could
    /// not be followed.
    ///
    /// - Parameter monotonic: as at the start; the result is on the same clock.
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
