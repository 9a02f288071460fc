package import TomboloLoop

/// How many unknown paths may still be answered with the path that was perhaps meant: whoever
/// mistypes reads it, and whoever sends thousands does not. Pure.
package struct SuggestionAllowance: Hashable, Sendable {
    /// A second, in all: 76 µs each is less than a hundredth of a processor.
    package static let perSecond = 100

    private var left = perSecond
    private var until: MonotonicInstant?

    /// All of the first second.
    package init() {}

    /// Counts one, and answers whether it is still allowed.
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
