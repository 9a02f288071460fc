package import TomboloCore

/// How long something took, counted by size: what Prometheus calls a histogram. Pure.
package struct DurationHistogram: Sendable {
    /// The upper bounds of the buckets; one more is for all beyond.
    package static let bounds: [Span] = [
        .milliseconds(1), Span(nanoseconds: 2_500_000), .milliseconds(5), .milliseconds(10),
        .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
        .milliseconds(500), .seconds(1), Span(nanoseconds: 2_500_000_000), .seconds(5),
        .seconds(10), .seconds(30), .seconds(60), .seconds(300), .seconds(3_600),
    ]

    private var counts = [Int64](repeating: 0, count: bounds.count + 1)
    /// Of all that were counted.
    package private(set) var sum = Span.zero
    package private(set) var count: Int64 = 0

    package init() {}

    /// Counts one. A clock that went back makes it zero.
    package mutating func count(_ time: Span) {
        let time = max(.zero, time)
        // Most are short: the first bounds are looked at first.
        let place = Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count
        counts[place] += 1
        count += 1
        sum = Span(nanoseconds: sum.nanoseconds &+ time.nanoseconds)
    }

    /// How many took at most each of `bounds`.
    package var cumulative: [Int64] {
        var total: Int64 = 0
        return counts.dropLast().map { count in
            total += count
            return total
        }
    }
}
