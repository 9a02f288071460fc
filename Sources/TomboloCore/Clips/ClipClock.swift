/// Time as a clip counts it: it can stand still, and goes on where it stopped.
package struct ClipClock: Hashable, Sendable {
    private var before: Span
    private var runningSince: Instant?

    /// Runs from zero.
    package init(startedAt instant: Instant) {
        before = .zero
        runningSince = instant
    }

    /// As a record keeps it.
    init(before: Span, runningSince: Instant?) {
        self.before = before
        self.runningSince = runningSince
    }

    package var isRunning: Bool { runningSince != nil }

    /// Never below zero.
    package func elapsed(at instant: Instant) -> Span {
        guard let runningSince else { return before }
        return before + max(.zero, instant - runningSince)
    }

    /// Lets it run or stand still from an instant on.
    package mutating func run(_ runs: Bool, at instant: Instant) {
        guard runs != isRunning else { return }
        before = elapsed(at: instant)
        runningSince = runs ? instant : nil
    }

    /// The clock that it runs by was set.
    mutating func move(by step: Span) { runningSince = runningSince.map { $0 + step } }

    /// For records: the time counted until it last stood still, and since when it runs.
    var parts: (before: Span, runningSince: Instant?) { (before, runningSince) }
}
