/// How long phones lagged behind their producers: number of lags by length. Lengths are rounded to
/// three digits, so there are few different ones.
package struct LagHistogram: Sendable {
    private var counts: [Int64: Int64] = [:]
    package private(set) var count: Int64 = 0
    /// The longest lag, not rounded.
    package private(set) var worst = Span.zero

    package init() {}

    /// Adds a lag; a negative one counts as zero.
    package mutating func add(_ lag: Span) {
        let lag = max(.zero, lag)
        count += 1
        worst = max(worst, lag)
        counts[Self.rounded(lag.nanoseconds), default: 0] += 1
    }

    /// The length that a `part` (0 to 1) of all lags does not exceed, rounded down to three digits;
    /// nil if there are no lags.
    package func quantile(_ part: Double) -> Span? {
        guard count > 0 else { return nil }
        let rank = max(1, Int64((Double(count) * part).rounded(.up)))
        var seen: Int64 = 0
        for (length, count) in counts.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= rank { return Span(nanoseconds: length) }
        }
        return worst
    }

    /// Rounds down to three digits and to whole milliseconds.
    private static func rounded(_ nanoseconds: Int64) -> Int64 {
        var unit: Int64 = 1_000_000
        while nanoseconds / unit >= 1_000 { unit *= 10 }
        return nanoseconds / unit * unit
    }
}
