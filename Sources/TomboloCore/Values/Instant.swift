import TomboloJSON

/// A point in wall time or in the relay's monotonic time (`RelayClock`): nanoseconds since
/// 1970-01-01T00:00:00Z, without leap seconds.
///
/// The range is from 1677 to 2262. All results are clamped to it.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The instant with this time in milliseconds, clamped to the range.
    package init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        nanoseconds = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    /// The instant with this time in seconds, clamped to the range.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    package static let distantPast = Instant(nanoseconds: .min)
    package static let distantFuture = Instant(nanoseconds: .max)

    package var milliseconds: Int64 { floorDivide(nanoseconds, 1_000_000) }

    /// Whole seconds, rounded down.
    package var seconds: Int64 { floorDivide(nanoseconds, 1_000_000_000) }

    package static func < (one: Instant, other: Instant) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// The instant that is `span` later, clamped to the range.
    package static func + (instant: Instant, span: Span) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return Instant(nanoseconds: overflow ? (span.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// The instant that is `span` earlier, clamped to the range.
    package static func - (instant: Instant, span: Span) -> Instant {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(
            span.nanoseconds)
        return Instant(nanoseconds: overflow ? (span.nanoseconds < 0 ? .max : .min) : difference)
    }

    /// The time from `other` to `instant`, clamped to the range.
    package static func - (instant: Instant, other: Instant) -> Span {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(
            other.nanoseconds)
        return Span(nanoseconds: overflow ? (instant < other ? .min : .max) : difference)
    }
}

/// A length of time in nanoseconds, positive or negative. The core does not use `Duration`: it has
/// 128 bits, and a hundred thousand destinations store several lengths each.
package struct Span: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static let zero = Span(nanoseconds: 0)

    /// A number of milliseconds, clamped to the range.
    package static func milliseconds(_ count: Int64) -> Span {
        Instant(milliseconds: count) - Instant(nanoseconds: 0)
    }

    /// A number of seconds, clamped to the range.
    package static func seconds(_ count: Int64) -> Span {
        Instant(seconds: count) - Instant(nanoseconds: 0)
    }

    /// A number of minutes.
    package static func minutes(_ count: Int64) -> Span { .seconds(count * 60) }
    /// A number of hours.
    package static func hours(_ count: Int64) -> Span { .seconds(count * 3_600) }

    package static func < (one: Span, other: Span) -> Bool { one.nanoseconds < other.nanoseconds }
}

/// Division that rounds down, also for negative numbers. `divisor` must be positive.
package func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    CivilDate.floorDivide(dividend, divisor)
}
