package import TomboloCore

/// A histogram of durations, as in Prometheus. Pure.
package struct DurationHistogram: Sendable {
    /// Upper bounds of the buckets. Longer durations have a bucket of their own.
    package static let bounds: [Span] = [
        .milliseconds(1), Span(nanoseconds: 2_500_000), .milliseconds(5), .milliseconds(10),
        .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
        .milliseconds(500), .seconds(1), Span(nanoseconds: 2_500_000_000), .seconds(5),
        .seconds(10), .seconds(30), .seconds(60), .seconds(300), .seconds(3_600),
    ]

    private var counts = [Int64](repeating: 0, count: bounds.count + 1)
    /// Sum of all counted durations.
    package private(set) var sum = Span.zero
    package private(set) var count: Int64 = 0

    package init() {}

    /// Counts one duration. A negative one counts as zero.
    package mutating func count(_ time: Span) {
        let time = max(.zero, time)
        // Most durations are short, so search from the first bound.
        let place = Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count
        counts[place] += 1
        count += 1
        sum = Span(nanoseconds: sum.nanoseconds &+ time.nanoseconds)
    }

    /// Adds what another histogram has counted.
    package mutating func merge(_ other: DurationHistogram) {
        for place in counts.indices { counts[place] += other.counts[place] }
        count += other.count
        sum = Span(nanoseconds: sum.nanoseconds &+ other.sum.nanoseconds)
    }

    /// The duration that `share` of all counted since `earlier` do not exceed: in the bucket where
    /// it is, between the bounds, as `histogram_quantile` of Prometheus. Nil if none was counted.
    package func quantile(_ share: Double, since earlier: DurationHistogram) -> Span? {
        let parts = zip(counts, earlier.counts).map { max(0, $0 - $1) }
        let wanted = share * Double(parts.reduce(0, +))
        guard wanted > 0 else { return nil }
        var (before, lower) = (0.0, Span.zero)
        for (part, upper) in zip(parts, Self.bounds) {
            let place = (wanted - before) / Double(part)
            if part > 0, place <= 1 {
                let width = Double(upper.nanoseconds - lower.nanoseconds)
                return Span(nanoseconds: lower.nanoseconds + Int64(width * place))
            }
            (before, lower) = (before + Double(part), upper)
        }
        return lower
    }

    /// For each of `bounds`, the number of durations up to it.
    package var cumulative: [Int64] {
        var total: Int64 = 0
        return counts.dropLast().map { count in
            total += count
            return total
        }
    }
}
