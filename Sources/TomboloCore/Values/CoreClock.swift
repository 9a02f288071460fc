/// The relay's clock as the core knows it: how far wall time runs ahead of steady time, now and
/// before.
struct CoreClock: Sendable {
    /// Wall time runs ahead of steady time by this (`RelayClock`).
    private(set) var lead = Span.zero
    private var leads = LeadHistory()
    /// When the log was put back, by wall time: what was due before that may have gone.
    private(set) var restoredAt: Instant?
    /// No later wall time goes into a timestamp until a newer reading of the clock is on record.
    var tellsThrough = Instant.distantFuture

    /// The machine's clock is behind the timestamps that phones have: which of the two is right
    /// nobody knows.
    var isBehind = false

    init() { leads.note(lead, at: .distantPast) }

    /// Goes on where the relay before stopped.
    mutating func recover(
        lead: Span, _ leads: LeadHistory, restoredAt: Instant?, tellsThrough: Instant, now: Instant
    ) {
        self.lead = lead
        self.leads = leads
        self.leads.note(lead, at: now)
        self.restoredAt = restoredAt
        self.tellsThrough = tellsThrough
    }

    /// What wall time went forward by since cards were given the age that they have by it.
    private var unmoved = Span.zero

    /// Follows the machine's clock. Answers by how much wall time goes forward (negative: back),
    /// and by how much cards have to be moved: what time servers correct by makes no card older.
    mutating func follow(to next: Span, now: Instant) -> (step: Span, moves: Span) {
        let step = next - lead
        lead = next
        leads.note(lead, at: now)
        unmoved = unmoved + step
        guard max(unmoved, .zero - unmoved) > RelayClock.leadMax else { return (step, .zero) }
        defer { unmoved = .zero }
        return (step, unmoved)
    }

    /// Shows the same time as another.
    mutating func follow(_ other: CoreClock) { lead = other.lead }

    func wall(_ now: Instant) -> Instant { now + lead }

    /// The steady time of a moment of wall time, by the clock as it is now.
    func steady(_ wall: Instant) -> Instant { wall - lead }

    /// When the clock showed a moment of wall time that is on record.
    func shownAt(_ wall: Instant, now: Instant) -> Instant { leads.steady(wall, now: now) }
}
