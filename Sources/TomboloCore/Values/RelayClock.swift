/// The relay's two clocks, made of what the machine offers: a wall clock that people and time
/// servers move, and a monotonic clock that nobody moves.
///
/// *Steady* time is the wall time at the first start advanced by the monotonic clock, and never
/// corrected: spacings and buckets are counted on it, so that no step of the wall clock opens a
/// window a second time. A later relay on the same boot of the machine goes on with it (`Reading`);
/// after another boot nobody knows how much time has passed, and none is counted. *Wall* time is
/// steady time plus a lead. The lead is what the machine's clock says at start, and follows it: up
/// to `leadMax` ahead at once, and every longer step, forwards or back, whole once it has held for
/// `stepHeld`. A card whose phone has later timestamps goes on with those (`TakenTimestamps`).
package struct RelayClock: Sendable {
    /// How far the wall clock is followed at once: more than time servers correct by, less than
    /// what a phone would take amiss.
    package static let leadMax = Span.seconds(60)
    /// A longer step, or one back, is followed whole when it has held for so long.
    package static let stepHeld = Span.seconds(60)
    /// Less than this back is what two readings differ by, and no step.
    package static let backMin = Span.seconds(1)
    /// A wall clock that is so far behind the timestamps of cards: somebody has to look. Phones
    /// drop what is a minute old.
    package static let behindMax = Span.seconds(60)

    /// A timestamp is at most so much later than the reading on record: whoever comes after a crash
    /// knows by it alone how far timestamps can have come, also after another boot. So it is also
    /// how long the first pushes wait at most where the machine comes back at once, and how long a
    /// log may be without room before pushes wait for it.
    package static let reach = Span.seconds(30)

    private let steadyAtStart: Instant
    private let monotonicAtStart: Int64
    /// As it was at start, or when a long step was followed.
    private var leadAtStart: Span
    /// Since when the wall clock is further ahead than is followed at once.
    private var stepSince: Instant?
    /// Since when it is behind.
    private var backSince: Instant?
    /// How far the machine's clock is behind the relay's, or behind the timestamps that running
    /// cards have; zero where it is not.
    package private(set) var behind = Span.zero
    /// The newest timestamp of a running card, where that was ahead of the clock.
    private var told = Instant.distantPast
    private var comparedAt = Instant.distantPast
    private var latest: Instant
    package private(set) var lead: Span
    /// The leads of this relay and of those before.
    package private(set) var leads: LeadHistory
    /// The clock of the relay before, as of this start; nil where there was none.
    package let before: Predecessor?
    /// By how much the machine's clock was set forward (or back, where it is negative) since the
    /// relay before, on one boot; zero for what is followed at once.
    package let stepAtStart: Span

    /// The first relay's, or one that goes on from another's last reading.
    ///
    /// - Parameters:
    ///   - wall: the machine's wall clock.
    ///   - monotonic: the machine's monotonic clock in nanoseconds, from any origin.
    ///   - boot: names that origin; readings of different boots are not compared. Empty: not known.
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
        /// Its last reading of the wall clock that is on record.
        package var reading: Instant
        /// The latest wall time that it can have put into a timestamp.
        package var toldThrough: Instant
        /// It wrote all that it knew before it ended: nothing has to be guessed.
        package var endedInOrder: Bool
        /// The machine's clock was set ahead since, on the same boot.
        package var wasBehind: Bool

        /// - Parameter endedInOrder: its last reading says so.
        package init(
            reading: Instant, toldThrough: Instant, endedInOrder: Bool = false,
            wasBehind: Bool = false
        ) {
            (self.reading, self.toldThrough) = (reading, toldThrough)
            (self.endedInOrder, self.wasBehind) = (endedInOrder, wasBehind)
        }
    }

    /// Steady time now. Never less than the last answer.
    package mutating func steady(monotonic: Int64) -> Instant {
        latest = max(latest, steadyAtStart + Span(nanoseconds: monotonic &- monotonicAtStart))
        return latest
    }

    /// Whether the machine's clock is so far behind that somebody has to look.
    package var isSetBack: Bool { behind > Self.behindMax }

    /// What a clock is that is so far behind, and what helps; an article goes before it.
    package static func trouble(behind: Span) -> String {
        "machine's clock is \(behind.roundedText) behind the timestamps that cards on phones have: "
            + "if it is wrong, set it right, for phones drop what is a minute old; if it is right, "
            + "do nothing: these cards go on from their newest timestamps"
    }

    /// Whether it is so far behind that times which others tell are believed more.
    package var isFarBehind: Bool { behind > .minutes(5) }

    /// Compares the clock with the newest timestamp of a running card: at the start, after a step
    /// back, and each minute while it is behind.
    ///
    /// What a crash may have left unsaid, and what time servers correct by, is no fault.
    package mutating func compare(with newest: Instant?, wall: Instant) {
        comparedAt = latest
        told = newest.map { $0 - wall > Self.leadMax ? $0 : .distantPast } ?? .distantPast
        measure(wall: wall)
    }

    /// Cards end, and others go on: while the clock is behind them they are looked at again.
    package var isToBeCompared: Bool {
        told != .distantPast && latest - comparedAt >= Self.stepHeld
    }

    private mutating func measure(wall: Instant) {
        behind = max(.zero, (latest + lead) - wall, told - wall)
    }

    /// Looks at the wall clock; answers whether `lead` changed.
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

    /// When the wall clock is to be looked at where nothing else is due: a step that nobody saw
    /// could not be followed.
    ///
    /// - Parameter monotonic: as at the start; the answer is of the same kind.
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
