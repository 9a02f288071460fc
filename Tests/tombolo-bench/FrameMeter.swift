import Glibc
import TomboloCore
import TomboloLoop
import TomboloProgram
import TomboloRelay

/// Measures how late each frame is handed over, compared with its ideal time. It sits between the
/// relay and its push clients. Used on the loop only.
///
/// The ideal times of an activity's frames have the clip's interval, and are aligned with the
/// earliest frame, because a constant delay is not jitter. If no frame comes at an ideal time, it
/// counts as late by a whole interval.
final class FrameMeter: PushSender, TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only; the relay calls it there.

    private struct Grid {
        /// The ideal time of frame 0, derived from the earliest frame.
        var anchor: Int64 = .min
        var frames: Int64 = 0
    }

    /// Width of a slot of the histogram, in nanoseconds.
    private static let step: Int64 = 10_000

    private let upstreams: UpstreamSender
    private let loop: any Loop
    private let every: Int64
    private var grids: [Grid]
    /// Activities whose frames were handed over in this turn.
    @exclusivity(unchecked) private var gone: [Int] = []
    @exclusivity(unchecked) private var histogram: [Int]
    private var isTurnNoted = false
    private var isMeasuring = false
    private(set) var frames = 0
    private(set) var missed = 0
    private(set) var worst: Int64 = 0

    init(activities: Int, every: Span, upstreams: UpstreamSender, loop: any Loop) {
        (self.upstreams, self.loop, self.every) = (upstreams, loop, every.nanoseconds)
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
        // This runs after the push client, which writes at the end of the turn.
        loop.atEndOfTurn(self)
    }

    /// The activity's number, read from the push's state.
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
            // In `passed` intervals no frame came: count them as missed.
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

    /// The quantile of the lateness in milliseconds. `part` is from 0 to 1; the result is at most
    /// the interval.
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
