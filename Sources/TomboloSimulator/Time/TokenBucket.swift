/// A token bucket that holds at most `depth` tokens and refills at `perHour`.
///
/// In any time *w* it grants at most `depth + perHour · w`. A clock that goes back refills nothing.
package struct TokenBucket: Hashable, Sendable {
    package let depth: Double
    package let perHour: Double
    private var level: Double
    private var filledAt: WallInstant

    /// Starts full.
    package init(depth: Double, perHour: Double, at now: WallInstant) {
        self.depth = depth
        self.perHour = perHour
        level = depth
        filledAt = now
    }

    /// Takes one token. Returns false if there is none.
    package mutating func take(at now: WallInstant) -> Bool {
        refill(at: now)
        guard level >= 1 else { return false }
        level -= 1
        return true
    }

    /// Number of whole tokens left now.
    package func remaining(at now: WallInstant) -> Int {
        var copy = self
        copy.refill(at: now)
        return Int(copy.level)
    }

    private mutating func refill(at now: WallInstant) {
        guard now > filledAt else { return }
        let hours = Double(now.nanoseconds &- filledAt.nanoseconds) / 3_600e9
        level = min(depth, level + hours * perHour)
        filledAt = now
    }
}
