extension Span {
    /// The product, clamped to the range.
    package func times(_ count: Int64) -> Span {
        let (product, overflow) = nanoseconds.multipliedReportingOverflow(by: count)
        return Span(
            nanoseconds: overflow ? ((nanoseconds < 0) == (count < 0) ? .max : .min) : product)
    }

    /// The sum, clamped to the range.
    static func + (one: Span, other: Span) -> Span {
        let (sum, overflow) = one.nanoseconds.addingReportingOverflow(other.nanoseconds)
        return Span(nanoseconds: overflow ? (other.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// The difference, clamped to the range.
    static func - (one: Span, other: Span) -> Span {
        let (difference, overflow) = one.nanoseconds.subtractingReportingOverflow(
            other.nanoseconds)
        return Span(nanoseconds: overflow ? (other.nanoseconds < 0 ? .max : .min) : difference)
    }
}
