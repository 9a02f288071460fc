/// The relay's clock as the core knows it: how far wall time is ahead of monotonic time, now and
/// before.
struct CoreClock: Sendable {
    /// How far wall time is ahead of monotonic time (`RelayClock`).
    private(set) var lead = Span.zero
    private var leads = LeadHistory()
    /// Wall time of the log's restore from a backup: pushes due before it may have been sent.
    private(set) var restoredAt: Instant?
    /// The latest wall time in timestamps, until a newer reading of the clock is on record.
    var tellsThrough = Instant.distantFuture

    /// Whether the machine's clock is behind the timestamps on phones. It is not known which of the
    /// two is right.
    var isBehind = false

    init() { leads.note(lead, at: .distantPast) }

    /// Continues from the relay before.
    mutating func recover(
        lead: Span, _ leads: LeadHistory, restoredAt: Instant?, tellsThrough: Instant, now: Instant
    ) {
        self.lead = lead
        self.leads = leads
        self.leads.note(lead, at: now)
        self.restoredAt = restoredAt
        self.tellsThrough = tellsThrough
    }

    /// By how much wall time was adjusted since cards were last moved.
    private var unmoved = Span.zero

    /// Follows the machine's clock. Returns by how much wall time goes forward (negative: back),
    /// and by how much cards must be moved: small corrections by time servers make no card older.
    mutating func follow(to next: Span, now: Instant) -> (step: Span, moves: Span) {
        let step = next - lead
        lead = next
        leads.note(lead, at: now)
        unmoved = unmoved + step
        guard max(unmoved, .zero - unmoved) > RelayClock.leadMax else { return (step, .zero) }
        defer { unmoved = .zero }
        return (step, unmoved)
    }

    /// Shows the same time as another clock.
    mutating func follow(_ other: CoreClock) { lead = other.lead }

    func wall(_ now: Instant) -> Instant { now + lead }

    /// The monotonic time of a moment of wall time, by the present lead.
    func steady(_ wall: Instant) -> Instant { wall - lead }

    /// The monotonic time at which the clock showed a wall time that is on record.
    func shownAt(_ wall: Instant, now: Instant) -> Instant { leads.steady(wall, now: now) }
}
