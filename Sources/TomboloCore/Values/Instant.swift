/// A moment on the relay's clock: nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The relay's clock never goes back while the relay runs (`RelayClock`); it is the only time in
/// the core. Range: the years 1678 to 2262. Results beyond the range become its nearest end.
package struct Instant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Beyond the range, its nearest end.
    package init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        nanoseconds = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    /// Beyond the range, its nearest end.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    package static let distantPast = Instant(nanoseconds: .min)
    package static let distantFuture = Instant(nanoseconds: .max)

    /// Whole milliseconds, rounded down.
    package var milliseconds: Int64 { floorDivide(nanoseconds, 1_000_000) }

    /// Whole milliseconds, rounded down.
    package var seconds: Int64 { floorDivide(nanoseconds, 1_000_000_000) }

    package static func < (one: Instant, other: Instant) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// Beyond the range, its nearest end.
    package static func + (instant: Instant, span: Span) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(span.nanoseconds)
        return Instant(nanoseconds: overflow ? (span.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// Beyond the range, its nearest end.
    package static func - (instant: Instant, span: Span) -> Instant {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(
            span.nanoseconds)
        return Instant(nanoseconds: overflow ? (span.nanoseconds < 0 ? .max : .min) : difference)
    }

    /// The time from `other` to `self`.
    package static func - (instant: Instant, other: Instant) -> Span {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(
            other.nanoseconds)
        return Span(nanoseconds: overflow ? (instant < other ? .min : .max) : difference)
    }
}

/// A length of time in nanoseconds, signed.
///
/// The core uses `Span` instead of `Duration`, whose 128 bits of attoseconds are costly when a
/// hundred thousand destinations each keep several.
package struct Span: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static let zero = Span(nanoseconds: 0)

    /// Beyond the range, its nearest end; so are the next three.
    package static func milliseconds(_ count: Int64) -> Span {
        Instant(milliseconds: count) - Instant(nanoseconds: 0)
    }

    /// Seconds.
    package static func seconds(_ count: Int64) -> Span {
        Instant(seconds: count) - Instant(nanoseconds: 0)
    }

    /// Minutes.
    package static func minutes(_ count: Int64) -> Span { .seconds(count * 60) }
    /// Hours.
    package static func hours(_ count: Int64) -> Span { .seconds(count * 3_600) }

    package static func < (one: Span, other: Span) -> Bool { one.nanoseconds < other.nanoseconds }
}

/// Division that rounds towards negative infinity. `divisor` must be positive.
package func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    let quotient = dividend / divisor
    return dividend % divisor < 0 ? quotient - 1 : quotient
}
