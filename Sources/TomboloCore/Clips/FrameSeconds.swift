/// Counts of frames for each of the last 60 seconds that had any. The frames themselves are not
/// stored.
package struct FrameSeconds: Hashable, Sendable {
    /// The counts of one second of the wall clock.
    package struct Second: Hashable, Sendable {
        /// Whole Unix seconds.
        package var at: Int64
        package var counts: FrameCounts
    }

    package static let lengthMax = 60
    /// The newest second, stored apart because every frame changes it.
    private var newest: Second?
    private var older: [Second] = []

    package init() {}

    /// Oldest first, without seconds that have no frame.
    package var seconds: [Second] { older + (newest.map { [$0] } ?? []) }

    mutating func add(_ count: Int64, _ decision: FrameDecision, at wall: Instant) {
        let second = wall.seconds
        if newest?.at != second {
            if let newest {
                if older.count >= Self.lengthMax - 1 { older.removeFirst() }
                older.append(newest)
            }
            newest = Second(at: second, counts: FrameCounts())
        }
        newest?.counts.add(count, decision)
    }
}

/// What became of a requested frame: one case for each counter of `FrameCounts`.
enum FrameDecision: UInt8, Sendable {
    case sent, merged, slowed, noRoute, hidden, paused, unchanged
}

extension FrameCounts {
    mutating func add(_ count: Int64, _ decision: FrameDecision) {
        asked += count
        switch decision {
        case .sent: sent += count
        case .merged: merged += count
        case .slowed: slowed += count
        case .noRoute: noRoute += count
        case .hidden: hidden += count
        case .paused: paused += count
        case .unchanged: unchanged += count
        }
    }
}
