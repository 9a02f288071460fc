/// Frames of clips at one destination, by the producer's clock. `asked` is always the sum of the
/// others.
package struct FrameCounts: Hashable, Sendable {
    package var asked: Int64 = 0
    package var sent: Int64 = 0
    package var merged: Int64 = 0
    /// By reason: slowed, no route, the app in front, an operator's pause, the same as before.
    package var slowed: Int64 = 0
    package var noRoute: Int64 = 0
    package var hidden: Int64 = 0
    package var paused: Int64 = 0
    package var unchanged: Int64 = 0
    /// For so long frames were asked for.
    package var time = Span.zero

    package var skipped: Int64 { slowed + noRoute + hidden + paused + unchanged }

    /// Frames shown a second, of the time in which any were asked for; nil where none was.
    package var achievedPerSecond: Double? {
        time > .zero ? Double(sent) / time.seconds : nil
    }
}

extension FrameCounts {
    static func - (one: FrameCounts, other: FrameCounts) -> FrameCounts {
        FrameCounts(
            asked: one.asked - other.asked, sent: one.sent - other.sent,
            merged: one.merged - other.merged, slowed: one.slowed - other.slowed,
            noRoute: one.noRoute - other.noRoute, hidden: one.hidden - other.hidden,
            paused: one.paused - other.paused, unchanged: one.unchanged - other.unchanged,
            time: one.time - other.time)
    }

    static func + (one: FrameCounts, other: FrameCounts) -> FrameCounts {
        FrameCounts(
            asked: one.asked + other.asked, sent: one.sent + other.sent,
            merged: one.merged + other.merged, slowed: one.slowed + other.slowed,
            noRoute: one.noRoute + other.noRoute, hidden: one.hidden + other.hidden,
            paused: one.paused + other.paused, unchanged: one.unchanged + other.unchanged,
            time: one.time + other.time)
    }
}
