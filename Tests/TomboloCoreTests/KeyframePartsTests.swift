import CoreRig
import Glibc
import Testing
import TomboloJSON

@testable import TomboloCore

/// How many keyframes a tween has: the least number that stays close to it, by its definition.
@Suite struct KeyframePartsTests {
    static let easings: [Easing] = [
        .linear, .easeIn, .easeOut, .easeInOut, .standard,
        .curve(CubicBezier(0.9, -3, 0.1, 4)), .curve(CubicBezier(0, 1, 1, 0)),
        .spring(Spring(duration: 0.5, bounce: 0.7)), .spring(Spring(duration: 1, bounce: -0.5)),
    ]

    /// One component's value, from its start to its end.
    static func value(_ tween: Tween, _ start: Double, _ end: Double, at time: Span) -> Double {
        if time <= .zero { return start }
        return time < tween.length ? tween.state(at: time).value.components[0] : end
    }

    /// Whether each of so many parts is nearly straight, and none is longer than 30 degrees.
    static func isClose(_ tween: Tween, _ start: Double, _ end: Double, _ parts: Int64) -> Bool {
        let length = tween.length.nanoseconds
        let part = length / parts
        let arc = tween.unit == .radians ? Double.pi / 6 * (1 + 1e-6) : .infinity
        return (1...parts).allSatisfy { index in
            let until = index == parts ? length : part * index
            func at(_ time: Int64) -> Double {
                value(tween, start, end, at: Span(nanoseconds: time))
            }
            let (before, next) = (at(part * (index - 1)), at(until))
            let middle = at(until - part / 2)
            return (middle - (before + next) / 2).magnitude <= (end - start).magnitude / 50
                && (next - before).magnitude <= arc
        }
    }

    @Test(arguments: easings)
    func `the first number of parts that stays close is taken`(easing: Easing) throws {
        for (start, end) in [(0.0, 1.0), (90, 0), (0, 40), (-3, 3)] {
            for unit in [nil, Tween.AngleUnit.radians] {
                for milliseconds in [Int64(300), 1_000, 61_000] {
                    let tween = Tween(
                        from: Animatable(Rig.json("\(start)")),
                        to: JSON(unchecked: Array("\(end)".utf8)),
                        animatable: try #require(Animatable(Rig.json("\(end)"))),
                        duration: .milliseconds(milliseconds), easing: easing,
                        every: .milliseconds(1), unit: unit)
                    var parts = (tween.length.nanoseconds - 1) / 2_000_000_000 + 1
                    while parts < 256, !Self.isClose(tween, start, end, parts) {
                        parts += max(1, parts / 16)
                    }
                    let most = max(1, tween.length.nanoseconds / 1_000_000)
                    let clip = Clip(path: JSONPointer("/n")!, motion: .tween(tween))
                    #expect(
                        clip.step(granted: .zero, fit: .keyframes)
                            == Span(nanoseconds: tween.length.nanoseconds / min(parts, 256, most)),
                        "\(easing) \(start) to \(end) in \(milliseconds) ms")
                }
            }
        }
    }
}
