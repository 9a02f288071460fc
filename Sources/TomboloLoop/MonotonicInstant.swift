/// An instant on a loop's clock: nanoseconds from an arbitrary start (on Linux, the boot). It never
/// goes back, and it is not the time of day. A virtual loop starts at zero. Arithmetic beyond 292
/// years saturates.
package struct MonotonicInstant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static let distantFuture = MonotonicInstant(nanoseconds: .max)

    package static func < (one: Self, other: Self) -> Bool { one.nanoseconds < other.nanoseconds }

    /// Saturates at the ends of the range.
    package static func + (instant: Self, duration: Duration) -> Self {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Self(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Saturates at the ends of the range.
    package static func - (instant: Self, duration: Duration) -> Self {
        let (sum, overflow) = instant.nanoseconds.subtractingReportingOverflow(duration.nanoseconds)
        return Self(nanoseconds: overflow ? (duration < .zero ? .max : .min) : sum)
    }

    /// The time from `other` to `self`.
    package static func - (instant: Self, other: Self) -> Duration {
        let (sum, overflow) = instant.nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return .nanoseconds(overflow ? (instant < other ? .min : .max) : sum)
    }
}

extension Duration {
    /// Whole nanoseconds, rounded towards zero; saturates beyond 292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }
}
