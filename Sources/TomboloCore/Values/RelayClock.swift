/// The relay's two clocks, made of what the machine offers: a wall clock that people and time
/// servers move, and a monotonic clock that nobody moves.
///
/// *Steady* time is the wall time at start advanced by the monotonic clock, and never corrected:
/// spacings and buckets are counted on it, so that no step of the wall clock opens a window a
/// second time. *Wall* time is steady time plus a lead; the lead follows the wall clock only
/// forwards, and by at most `leadMax` in all: a timestamp that went back would be dropped by phones
/// silently, one far ahead would block every later one.
package struct RelayClock: Sendable {
    /// How far the wall clock is followed: more than time servers correct by, less than what a
    /// phone would take amiss.
    package static let leadMax = Span.seconds(60)

    private let wallAtStart: Instant
    private let monotonicAtStart: Int64
    private var latest: Instant
    package private(set) var lead = Span.zero

    /// - Parameters:
    ///   - wall: the machine's wall clock.
    ///   - monotonic: the machine's monotonic clock in nanoseconds, from any origin.
    package init(wall: Instant, monotonic: Int64) {
        wallAtStart = wall
        monotonicAtStart = monotonic
        latest = wall
    }

    /// Steady time now. Never less than the last answer.
    package mutating func steady(monotonic: Int64) -> Instant {
        latest = max(latest, wallAtStart + Span(nanoseconds: monotonic &- monotonicAtStart))
        return latest
    }

    /// Looks at the wall clock; answers whether `lead` changed.
    package mutating func follow(wall: Instant, monotonic: Int64) -> Bool {
        let ahead = wall - steady(monotonic: monotonic)
        guard ahead > lead else { return false }
        let next = min(ahead, Self.leadMax)
        defer { lead = next }
        return next != lead
    }
}
