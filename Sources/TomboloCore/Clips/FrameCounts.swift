/// Counts of the requested frames of clips at one destination. `asked` is always the sum of the
/// others.
package struct FrameCounts: Hashable, Sendable {
    package var asked: Int64 = 0
    package var sent: Int64 = 0
    package var merged: Int64 = 0
    /// Skipped frames by reason: slowed down, no route, app in front, operator's pause, no change.
    package var slowed: Int64 = 0
    package var noRoute: Int64 = 0
    package var hidden: Int64 = 0
    package var paused: Int64 = 0
    package var unchanged: Int64 = 0
    /// Total time in which frames were requested.
    package var time = Span.zero

    package var skipped: Int64 { slowed + noRoute + hidden + paused + unchanged }

    /// Frames shown per second of that time; nil if there was none.
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
