/// The clock of a clip. It can be stopped, and continues later at the same time.
package struct ClipClock: Hashable, Sendable {
    private var before: Span
    private var runningSince: Instant?

    /// Starts at zero.
    package init(startedAt instant: Instant) {
        before = .zero
        runningSince = instant
    }

    init(before: Span, runningSince: Instant?) {
        self.before = before
        self.runningSince = runningSince
    }

    package var isRunning: Bool { runningSince != nil }

    /// Time elapsed, never below zero.
    package func elapsed(at instant: Instant) -> Span {
        guard let runningSince else { return before }
        return before + max(.zero, instant - runningSince)
    }

    /// Starts or stops the clock at an instant.
    package mutating func run(_ runs: Bool, at instant: Instant) {
        guard runs != isRunning else { return }
        before = elapsed(at: instant)
        runningSince = runs ? instant : nil
    }

    /// Corrects the clock when the wall clock jumps by `step`.
    mutating func move(by step: Span) { runningSince = runningSince.map { $0 + step } }

    /// The parts for a record: the time until the last stop, and the instant since when the clock
    /// runs (nil: it is stopped).
    var parts: (before: Span, runningSince: Instant?) { (before, runningSince) }
}
