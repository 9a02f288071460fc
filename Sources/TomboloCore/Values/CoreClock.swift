/// The core's knowledge of the wall clock: how far wall time is ahead of monotonic time, now and
/// earlier.
struct CoreClock: Sendable {
    private(set) var lead = Span.zero
    private var leads = LeadHistory()
    /// When the log was restored from a backup: what was due before may have been sent.
    private(set) var restoredAt: Instant?
    /// The latest wall time that timestamps may have until a newer reading of the clock is durable.
    var tellsThrough = Instant.distantFuture

    /// True if the machine's clock is behind timestamps that phones have got. It is not known which
    /// of the two is wrong.
    var isBehind = false

    init() { leads.note(lead, at: .distantPast) }

    /// Sets what start-up knows of the clocks of this relay and of those before it.
    mutating func recover(
        lead: Span, _ leads: LeadHistory, restoredAt: Instant?, tellsThrough: Instant, now: Instant
    ) {
        self.lead = lead
        self.leads = leads
        self.leads.note(lead, at: now)
        self.restoredAt = restoredAt
        self.tellsThrough = tellsThrough
    }

    /// How much wall time has changed since what waits for a wall time was last examined.
    private var unmoved = Span.zero

    /// Follows the machine's clock. Returns by how much wall time goes forward (negative: back),
    /// and the same for all small steps since the last large one: zero while that is no more than
    /// the corrections of a time server.
    mutating func follow(to next: Span, now: Instant) -> (step: Span, moves: Span) {
        let step = next - lead
        lead = next
        leads.note(lead, at: now)
        unmoved = unmoved + step
        guard max(unmoved, .zero - unmoved) > RelayClock.leadMax else { return (step, .zero) }
        defer { unmoved = .zero }
        return (step, unmoved)
    }

    /// Takes over another clock's present lead.
    mutating func follow(_ other: CoreClock) { lead = other.lead }

    func wall(_ now: Instant) -> Instant { now + lead }

    /// The monotonic time of a wall time, by the present lead.
    func steady(_ wall: Instant) -> Instant { wall - lead }

    /// The monotonic time at which a clock showed this recorded wall time. It is not in the future:
    /// a wall time that no known clock can have shown yet counts as now.
    func shownAt(_ wall: Instant, now: Instant) -> Instant {
        min(leads.steady(wall, now: now), now)
    }

    /// False if no known clock can have shown this recorded wall time yet.
    func hasShown(_ wall: Instant, now: Instant) -> Bool {
        leads.steady(wall, now: now) <= now + RelayClock.leadMax
    }

    /// The wall time that a clock showed at this monotonic time.
    func shown(at steady: Instant) -> Instant { leads.wall(steady) }

    /// When a card is `age` old, if the time counts in which the machine was off: when to renew it.
    func agedAt(_ age: Span, since begin: Instant) -> Instant {
        leads.agedAt(age, since: begin)
    }

    /// When a card that began at `begin` is at most `life` old: the system may have ended it.
    func lifeEnd(_ life: Span, since begin: Instant) -> Instant {
        begin + life - leads.gaps(since: begin)
    }
}
