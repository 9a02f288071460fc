package import TomboloLoop

/// Limits how many unknown paths get a suggestion. It helps against a typing error, but must not
/// cost much if thousands of paths are wrong. Pure.
package struct SuggestionAllowance: Hashable, Sendable {
    /// Maximum number of suggestions per second: at 76 µs each, less than a hundredth of a
    /// processor.
    package static let perSecond = 100

    private var left = perSecond
    private var until: MonotonicInstant?

    /// Starts with the allowance of one second.
    package init() {}

    /// Takes one suggestion. Returns false if none is left in this second.
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
