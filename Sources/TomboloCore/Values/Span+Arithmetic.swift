extension Span {
    /// Stays at the ends of the range, as does the next.
    static func + (one: Span, other: Span) -> Span {
        let (sum, overflow) = one.nanoseconds.addingReportingOverflow(other.nanoseconds)
        return Span(nanoseconds: overflow ? (other.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// The time by which `one` is longer.
    static func - (one: Span, other: Span) -> Span {
        let (difference, overflow) = one.nanoseconds.subtractingReportingOverflow(
            other.nanoseconds)
        return Span(nanoseconds: overflow ? (other.nanoseconds < 0 ? .max : .min) : difference)
    }
}
