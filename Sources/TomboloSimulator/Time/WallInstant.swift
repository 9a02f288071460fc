/// A moment on the wall clock of Apple and its phones: nanoseconds since 1970-01-01T00:00:00Z.
///
/// `timestamp`, `stale-date`, `dismissal-date`, `iat` and `apns-expiration` count its whole
/// seconds. Range: the years 1678 to 2262; arithmetic saturates.
package struct WallInstant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Whole seconds since 1970.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    package static let distantFuture = WallInstant(nanoseconds: .max)

    /// Whole seconds, rounded down.
    package var seconds: Int64 { Self.floor(nanoseconds, 1_000_000_000) }

    /// Whole milliseconds, rounded down: the unit of `timestamp` in a 410.
    package var milliseconds: Int64 { Self.floor(nanoseconds, 1_000_000) }

    package static func < (one: WallInstant, other: WallInstant) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// The instant that much later.
    package static func + (instant: WallInstant, duration: Duration) -> WallInstant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(
            nanoseconds(of: duration))
        return WallInstant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The instant that much earlier.
    package static func - (instant: WallInstant, duration: Duration) -> WallInstant {
        instant + (.zero - duration)
    }

    /// The time from `other` to `self`.
    package static func - (instant: WallInstant, other: WallInstant) -> Duration {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(
            other.nanoseconds)
        return .nanoseconds(overflow ? (instant < other ? Int64.min : .max) : difference)
    }

    private static func nanoseconds(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    private static func floor(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        let quotient = dividend / divisor
        return dividend % divisor < 0 ? quotient - 1 : quotient
    }
}
