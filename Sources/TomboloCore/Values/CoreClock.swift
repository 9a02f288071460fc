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

    /// The machine's clock is behind the times that phones got: by how much the relay's is, nobody
    /// knows.
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

    /// Wall time goes on, and never back. Answers by how much it goes forward.
    mutating func follow(to next: Span, now: Instant) -> Span {
        guard next > lead else { return .zero }
        defer {
            lead = next
            leads.note(lead, at: now)
        }
        return next - lead
    }

    /// Shows the same time as another.
    mutating func follow(_ other: CoreClock) { lead = other.lead }

    func wall(_ now: Instant) -> Instant { now + lead }

    /// The steady time of a moment of wall time, by the clock as it is now.
    func steady(_ wall: Instant) -> Instant { wall - lead }

    /// When the clock showed a moment of wall time that is on record.
    func shownAt(_ wall: Instant, now: Instant) -> Instant { leads.steady(wall, now: now) }
}
