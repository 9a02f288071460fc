/// Frames by the second of the producer's clock, for the last minute: counted, never stored one by
/// one.
package struct FrameSeconds: Hashable, Sendable {
    /// One second.
    package struct Second: Hashable, Sendable {
        /// Whole Unix seconds.
        package var at: Int64
        package var counts: FrameCounts
    }

    package static let lengthMax = 60
    /// The newest, beside the others: it is what each frame changes.
    private var newest: Second?
    private var older: [Second] = []

    package init() {}

    /// Oldest first; seconds without a frame are not there.
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

/// What became of a frame that was asked for; the words are those of `FrameCounts`.
enum FrameDecision: UInt8, Sendable {
    case sent, merged, slowed, noRoute, hidden, paused, unchanged
}

extension FrameCounts {
    /// So many frames were asked for, and came to this.
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
