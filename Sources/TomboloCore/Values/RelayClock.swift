/// The relay's two clocks, made of what the machine offers: a wall clock that people and time
/// servers move, and a monotonic clock that nobody moves.
///
/// *Steady* time is the wall time at the first start advanced by the monotonic clock, and never
/// corrected: spacings and buckets are counted on it, so that no step of the wall clock opens a
/// window a second time. A later relay on the same boot of the machine goes on with it (`Reading`);
/// after another boot nobody knows how much time has passed, and none is counted. *Wall* time is
/// steady time plus a lead. The lead is what the machine's clock says at start, and follows it only
/// forwards: a timestamp that went back would be dropped by phones silently. A step of more than
/// `leadMax` in all is followed once it has held for `stepHeld`: one that is taken back at once
/// would block every later timestamp.
package struct RelayClock: Sendable {
    /// How far the wall clock is followed at once: more than time servers correct by, less than
    /// what a phone would take amiss.
    package static let leadMax = Span.seconds(60)
    /// A longer step is followed whole when it has held for so long.
    package static let stepHeld = Span.seconds(60)
    /// A wall clock that is so far behind was set back: timestamps cannot follow it.
    package static let behindMax = Span.minutes(5)

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
    /// How far the machine's clock is behind what timestamps tell; zero where it is not.
    package private(set) var behind = Span.zero
    /// The newest timestamp that a relay before this one gave a card that runs, where that was
    /// ahead of the clock at the start.
    private var toldBefore = Instant.distantPast
    private var latest: Instant
    package private(set) var lead: Span
    /// The leads of this relay and of those before.
    package private(set) var leads: LeadHistory
    /// The latest wall time that the relay before can have put into a timestamp, as of this start.
    package let wallToldBefore: Instant
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
        wallToldBefore =
            last.map { last in
                let told = last.toldThrough
                return isSameBoot ? min(told, last.steady + passed + last.lead) : told
            } ?? .distantPast
    }

    /// Steady time now. Never less than the last answer.
    package mutating func steady(monotonic: Int64) -> Instant {
        latest = max(latest, steadyAtStart + Span(nanoseconds: monotonic &- monotonicAtStart))
        return latest
    }

    /// Whether the machine's clock was set back so far that somebody has to look.
    package var isSetBack: Bool { behind > Self.behindMax }

    /// Compares the clock at the start with the newest timestamp that a running card was sent: a
    /// machine whose clock is behind after a boot holds back the pushes of that card.
    ///
    /// What a crash may have left unsaid, and what time servers correct by, is no fault.
    package mutating func compare(with newest: Instant, wall: Instant) {
        guard newest - wall > Self.leadMax else { return }
        toldBefore = newest
        behind = newest - wall
    }

    /// Looks at the wall clock; answers whether `lead` changed.
    package mutating func follow(wall: Instant, monotonic: Int64) -> Bool {
        let now = steady(monotonic: monotonic)
        let ahead = wall - now
        behind = max(.zero, lead - ahead, toldBefore - wall)
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
        (lead, leadAtStart, stepSince) = (ahead, ahead, nil)
        leads.note(lead, at: now)
        return true
    }
}
