import Glibc
import TomboloCore
import TomboloLoop
import TomboloRelay

/// Sits between the relay and its push clients and measures every frame: how long after its ideal
/// moment it was handed over. Used on the loop only.
///
/// The ideal moments of an activity are a grid with its clip's interval, through the earliest frame
/// seen: a constant delay is not jitter. A moment without a frame counts as late by a whole
/// interval.
final class FrameMeter: PushSender, TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only; the relay calls it there.

    private struct Grid {
        /// The ideal moment of frame 0, by the earliest frame seen.
        var anchor: Int64 = .min
        var frames: Int64 = 0
    }

    /// Width of a slot of the histogram, in nanoseconds.
    private static let step: Int64 = 10_000

    private let upstreams: UpstreamSender
    private let loop: any Loop
    private let every: Int64
    private var grids: [Grid]
    /// Activities whose frame was handed over in this turn.
    @exclusivity(unchecked) private var gone: [Int] = []
    @exclusivity(unchecked) private var histogram: [Int]
    private var isTurnNoted = false
    private var isMeasuring = false
    private(set) var frames = 0
    private(set) var missed = 0
    private(set) var worst: Int64 = 0

    init(activities: Int, every: Span, upstreams: UpstreamSender, loop: any Loop) {
        self.upstreams = upstreams
        self.loop = loop
        self.every = every.nanoseconds
        grids = Array(repeating: Grid(), count: activities)
        histogram = Array(repeating: 0, count: Int(self.every / Self.step) + 1)
    }

    /// Starts the measurement with empty counts.
    func measure() {
        isMeasuring = true
        (frames, missed, worst) = (0, 0, 0)
        histogram = Array(repeating: 0, count: histogram.count)
    }

    func stop() { isMeasuring = false }

    func send(_ push: Push) {
        let activity = Self.activity(push)
        upstreams.send(push)
        guard push.event == .update, push.expiration == 0, let activity else { return }
        gone.append(activity)
        guard !isTurnNoted else { return }
        isTurnNoted = true
        // Runs after the client, which writes at the end of the turn.
        loop.atEndOfTurn(self)
    }

    /// The activity of a push, read from its state.
    private static func activity(_ push: Push) -> Int? {
        let name = Array(#""a":"#.utf8)
        let bytes = push.payload
        guard bytes.count > name.count else { return nil }
        for start in 0..<(bytes.count - name.count)
        where bytes[start] == name[0] && bytes[start + 1] == name[1] && bytes[start + 2] == name[2]
            && bytes[start + 3] == name[3]
        {
            var number = 0
            var place = start + name.count
            while place < bytes.count, bytes[place] >= 0x30, bytes[place] <= 0x39 {
                number = number * 10 + Int(bytes[place] - 0x30)
                place += 1
            }
            return number
        }
        return nil
    }

    func turnEnded() {
        isTurnNoted = false
        let now = BenchAppendCommand.nanoseconds(of: CLOCK_MONOTONIC)
        for activity in gone { note(activity, now) }
        gone.removeAll(keepingCapacity: true)
    }

    private func note(_ activity: Int, _ now: Int64) {
        guard grids.indices.contains(activity) else { return }
        guard grids[activity].anchor != .min else {
            grids[activity].anchor = now
            return
        }
        grids[activity].frames += 1
        var late = now - grids[activity].anchor - grids[activity].frames * every
        if late < 0 {
            grids[activity].anchor += late
            late = 0
        }
        if late >= every {
            // The grid moved on by `passed` intervals without a frame.
            let passed = late / every
            grids[activity].frames += passed
            late -= passed * every
            if isMeasuring {
                missed += Int(passed)
                histogram[histogram.count - 1] += Int(passed)
                worst = max(worst, every)
            }
        }
        guard isMeasuring else { return }
        frames += 1
        worst = max(worst, late)
        histogram[Int(late / Self.step)] += 1
    }

    /// The quantile of the lateness in milliseconds, for `part` of 0 to 1; at most the interval.
    func quantile(_ part: Double) -> Double {
        let all = histogram.reduce(0, +)
        var left = Int(Double(all) * part)
        for (index, count) in histogram.enumerated() {
            left -= count
            if left < 0 { return Double(Int64(index + 1) * Self.step) / 1e6 }
        }
        return Double(every) / 1e6
    }
}
