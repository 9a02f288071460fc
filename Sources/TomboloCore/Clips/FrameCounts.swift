/// How many frames clips have requested at one destination, and what became of them. `asked` is
/// always the sum of `sent`, `merged` and `skipped`.
package struct FrameCounts: Hashable, Sendable {
    package var asked: Int64 = 0
    package var sent: Int64 = 0
    package var merged: Int64 = 0
    /// Frames that were not sent, by reason: slowed down (`slowed`), no route to the phone, app in
    /// front (`hidden`), an operator's pause, no change.
    package var slowed: Int64 = 0
    package var noRoute: Int64 = 0
    package var hidden: Int64 = 0
    package var paused: Int64 = 0
    package var unchanged: Int64 = 0
    /// Total time in which frames were requested.
    package var time = Span.zero

    package var skipped: Int64 { slowed + noRoute + hidden + paused + unchanged }

    /// Sent frames per second of `time`; nil if `time` is zero.
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
