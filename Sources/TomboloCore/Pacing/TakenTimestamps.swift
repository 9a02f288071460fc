/// The timestamps that a card's phone may have got. The next push must have a later one (rule 6).
///
/// A phone ignores an update that is older than its last one, or more than `aheadMax` ahead of its
/// own clock. So a timestamp counts only while it is at most this far ahead of the relay's clock.
/// If a clock jumps further, timestamps from before the jump are kept: they count again when the
/// clock is right.
package struct TakenTimestamps: Hashable, Sendable {
    /// How far a timestamp may be ahead of a phone's clock.
    package static let aheadMax = Span.hours(8)

    /// In whole Unix seconds, until the year 2106; 0: none. If both are set, `low` is more than
    /// `aheadMax` below `high`.
    private var low: UInt32 = 0
    private var high: UInt32 = 0

    package init() {}

    init(_ seconds: [Int64]) {
        for second in seconds where second > 0 { note(second) }
    }

    package var isEmpty: Bool { high == 0 }

    package var latest: Int64 { Int64(high) }

    var all: [Int64] { [low, high].filter { $0 > 0 }.map(Int64.init) }

    /// The timestamp that the next push must exceed; 0 if none counts.
    package func counting(at wall: Instant) -> Int64 {
        let most = (wall + Self.aheadMax).seconds
        return Int64(high) <= most ? Int64(high) : Int64(low) <= most ? Int64(low) : 0
    }

    /// Adds the timestamp of a push that is being sent.
    package mutating func note(_ timestamp: Int64) {
        let second = UInt32(clamping: timestamp)
        if second >= high, Self.isNear(second, high) || high == 0 { return high = second }
        var list = [low, high].filter { $0 > 0 }
        let place = list.count { $0 <= second }
        if place > 0, Self.isNear(second, list[place - 1]) {
            list[place - 1] = second
        } else {
            list.insert(second, at: place)
            // Keep `second` and its lower neighbour: phones are unlikely to have accepted a higher
            // one.
            if list.count > 2 { list.remove(at: place == 2 ? 1 : 2) }
        }
        high = list.popLast() ?? 0
        low = list.popLast() ?? 0
    }

    /// Removes timestamps that do not count by a corrected clock. Returns true if the newest push
    /// had such a timestamp, so that the phone has dropped it.
    mutating func forget(aheadOf wall: Instant) -> Bool {
        let counting = counting(at: wall)
        guard latest > counting else { return false }
        self = Self(all.filter { $0 <= counting })
        return true
    }

    private static func isNear(_ later: UInt32, _ earlier: UInt32) -> Bool {
        Instant(seconds: Int64(later)) <= Instant(seconds: Int64(earlier)) + aheadMax
    }
}
