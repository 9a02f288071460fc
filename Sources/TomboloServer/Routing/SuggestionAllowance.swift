package import TomboloLoop

/// Limits how many unknown paths get a suggestion: useful for a mistyped path, a waste for
/// thousands of them. Pure.
package struct SuggestionAllowance: Hashable, Sendable {
    /// Suggestions a second in total: at 76 µs each less than a hundredth of a processor.
    package static let perSecond = 100

    private var left = perSecond
    private var until: MonotonicInstant?

    /// Starts with the whole allowance of a second.
    package init() {}

    /// Uses up one suggestion. Returns false if none is left.
    package mutating func take(now: MonotonicInstant) -> Bool {
        if until.map({ now >= $0 }) ?? true {
            left = Self.perSecond
            until = now + .seconds(1)
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
