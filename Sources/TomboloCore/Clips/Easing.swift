/// How a tween moves between two values. Names and numbers are those of SwiftUI (`Animation`).
package enum Easing: Hashable, Sendable {
    /// A timing curve: progress over time as a cubic Bézier from (0, 0) to (1, 1).
    case curve(CubicBezier)
    case spring(Spring)

    package static let linear = Easing.curve(CubicBezier(0, 0, 1, 1))
    package static let easeIn = Easing.curve(CubicBezier(0.42, 0, 1, 1))
    package static let easeOut = Easing.curve(CubicBezier(0, 0, 0.58, 1))
    package static let easeInOut = Easing.curve(CubicBezier(0.42, 0, 0.58, 1))
    /// `default` is a spring: response 0.55 s, damping fraction 1.
    package static let standard = Easing.spring(Spring(duration: 0.55, bounce: 0))

    /// Names that a producer may send, with the easing that applies if no duration is given.
    package static let names: [(String, Easing)] = [
        ("default", .standard), ("linear", .linear), ("easeIn", .easeIn), ("easeOut", .easeOut),
        ("easeInOut", .easeInOut), ("spring", .spring(Spring(duration: 0.5, bounce: 0))),
        ("smooth", .spring(Spring(duration: 0.5, bounce: 0))),
        ("snappy", .spring(Spring(duration: 0.5, bounce: 0.15))),
        ("bouncy", .spring(Spring(duration: 0.5, bounce: 0.3))),
    ]
}

/// A timing curve, given by its two inner control points (SwiftUI, `UnitCurve.bezier`).
package struct CubicBezier: Hashable, Sendable {
    package let x1: Double
    package let y1: Double
    package let x2: Double
    package let y2: Double

    /// x is a fraction of the time.
    package static let xRange = 0.0...1.0
    /// y may leave the range from 0 to 1 and come back: the curve overshoots.
    package static let yRange = -1_000.0...1_000.0

    /// Clamps each number to its range.
    package init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        self.x1 = x1.held(in: Self.xRange)
        self.y1 = y1.held(in: Self.yRange)
        self.x2 = x2.held(in: Self.xRange)
        self.y2 = y2.held(in: Self.yRange)
    }

    /// Progress at `time`, a fraction from 0 to 1. The progress itself may leave this range.
    package func value(at time: Double) -> Double {
        if time <= 0 { return 0 }
        if time >= 1 { return 1 }
        return Self.coordinate(y1, y2, at: parameter(at: time))
    }

    /// Slope of the progress at a fraction of the time; 0 outside of 0 to 1.
    package func velocity(at time: Double) -> Double { progress(at: time).velocity }

    /// `value` and `velocity` together, with one search for the parameter.
    package func progress(at time: Double) -> (value: Double, velocity: Double) {
        guard (0...1).contains(time) else { return (value(at: time), 0) }
        let parameter = parameter(at: time)
        let inner = Self.coordinate(y1, y2, at: parameter)
        let value = time <= 0 ? 0 : time >= 1 ? 1 : inner
        let run = Self.slope(x1, x2, at: parameter)
        guard run > 1e-9 else { return (value, 0) }
        return (value, Self.slope(y1, y2, at: parameter) / run)
    }

    /// The curve's parameter for a time, found by bisection, because x rises with the parameter.
    private func parameter(at time: Double) -> Double {
        var low = 0.0
        var high = 1.0
        var middle = time
        for _ in 0..<60 {
            let x = Self.coordinate(x1, x2, at: middle)
            if x == time { break }
            if x < time { low = middle } else { high = middle }
            let next = (low + high) / 2
            if next == middle { break }
            middle = next
        }
        return middle
    }

    private static func coordinate(_ first: Double, _ second: Double, at t: Double) -> Double {
        let rest = 1 - t
        return 3 * rest * rest * t * first + 3 * rest * t * t * second + t * t * t
    }

    private static func slope(_ first: Double, _ second: Double, at t: Double) -> Double {
        let rest = 1 - t
        return 3 * rest * rest * first + 6 * rest * t * (second - first) + 3 * t * t * (1 - second)
    }
}

/// A spring, given by its perceptual duration and its bounce (SwiftUI, `Spring(duration:bounce:)`).
package struct Spring: Hashable, Sendable {
    /// Perceptual duration in seconds; also called the response.
    package let duration: Double
    /// 0: no overshoot; near 1: oscillates; below 0: overdamped.
    package let bounce: Double

    package static let durationRange =
        Tween.durationRange.lowerBound.seconds...Tween.durationRange.upperBound.seconds
    package static let bounceRange = -0.95...0.95
    /// A spring counts as at rest when it is nearer to its end than this fraction of the way.
    package static let restPart = 0.001
    /// Longest settling time of a spring, in seconds.
    package static let settlingMax = 60.0

    /// Clamps each number to its range.
    package init(duration: Double, bounce: Double) {
        self.duration = duration.held(in: Self.durationRange)
        self.bounce = bounce.held(in: Self.bounceRange)
    }

    var span: Span { Span(nanoseconds: Int64((duration * 1e9).rounded())) }

    /// Undamped frequency in radians a second.
    package var frequency: Double { 2 * Double.pi / duration }
    package var dampingFraction: Double { bounce < 0 ? 1 / (1 + bounce) : 1 - bounce }

    /// Distance from the end after `t` seconds, and its rate of change. `start` and `velocity` are
    /// the values at 0.
    package func distance(
        _ start: Double, velocity: Double, after t: Double
    ) -> (distance: Double, velocity: Double) {
        Moment(self, after: t).distance(start, velocity: velocity)
    }

    /// Seconds until distance and speed stay within `restPart` of the way, at most `settlingMax`.
    package func settlingTime(_ start: Double, velocity: Double) -> Double {
        let scale = max(start.magnitude, velocity.magnitude / frequency)
        guard scale > 0 else { return 0 }
        let step = 1 / (8 * frequency)
        var time = 0.0
        var restSince: Double?
        while time < Self.settlingMax {
            let now = distance(start, velocity: velocity, after: time)
            let reach = max(now.distance.magnitude, now.velocity.magnitude / frequency)
            if reach > Self.restPart * scale {
                restSince = nil
            } else if let since = restSince {
                // After more than half a period at rest, the spring does not swing out again.
                if time - since > Double.pi / frequency { return since }
            } else {
                restSince = time
            }
            time += step
        }
        return restSince ?? Self.settlingMax
    }
}
