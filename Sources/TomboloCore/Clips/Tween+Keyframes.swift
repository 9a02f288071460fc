// Keyframes: the phone animates between two states, for at most two seconds (Apple, "Animating
// state changes").

extension Tween {
    /// Longest time that a phone animates a change of the state.
    package static let keyframeSpanMax = Span.seconds(2)
    /// Maximum turn between two keyframes, in degrees. A phone moves items on a straight line: over
    /// 30 degrees, that line leaves the circle by only 3.4 % of the radius.
    private static let arcMax = 30.0
    /// Maximum distance from the tween to the line between two keyframes, as a fraction of the way.
    private static let deviationMax = 1.0 / 50
    private static let partsMax: Int64 = 256

    /// Time between keyframes: as long as the lines stay close, but not shorter than the grant.
    func keyframeInterval(granted: Span) -> Span {
        guard length > .zero else { return every }
        let least = max(1, max(every, granted).nanoseconds)
        let most = max(1, min(Self.partsMax, length.nanoseconds / least))
        return Span(nanoseconds: length.nanoseconds / min(closeParts, most))
    }

    /// A number of parts, nearly the smallest, whose straight lines stay close to the tween. Some
    /// counts are skipped: a test of a sufficient count costs as much as it has parts.
    func findCloseParts() -> Int64 {
        guard length > .zero, let from, from.hasShape(of: to) else { return 1 }
        let ways = to.components.indices.map { index in
            (
                distance: from.components[index] - to.components[index],
                speed: index < velocity.count ? velocity[index] : 0
            )
        }
        let components = Self.courses(of: ways)
        var parts = (length.nanoseconds - 1) / Self.keyframeSpanMax.nanoseconds + 1
        // If a count is too small, a slightly larger one usually fails at the same place: test that
        // first.
        var place = 0.0
        while parts < Self.partsMax {
            let near = Int64(place * Double(parts))
            let first = max(1, near)...min(parts, near + 2)
            let isFar = { (part: Int64) in !isClose(part, of: parts, components, from) }
            guard let far = first.first(where: isFar) ?? (1...parts).first(where: isFar) else {
                break
            }
            place = Double(far) / Double(parts)
            parts += max(1, parts / 16)
        }
        return min(parts, Self.partsMax)
    }

    /// True if the line of part `index` of `parts` stays close to the tween for all `components`.
    private func isClose(
        _ index: Int64, of parts: Int64, _ components: [Int], _ from: Animatable
    ) -> Bool {
        let part = length.nanoseconds / parts
        // Parts are whole nanoseconds, so the last part may be slightly longer than an exact one.
        let arc = unit.map { $0.degrees(Self.arcMax) * (1 + 1e-6) } ?? .infinity
        let end = Span(nanoseconds: index == parts ? length.nanoseconds : part * index)
        let middle = Span(nanoseconds: end.nanoseconds - part / 2)
        let first = moment(at: Span(nanoseconds: part * (index - 1)))
        let half = middle < length ? moment(at: middle) : nil
        let last = end < length ? moment(at: end) : nil
        return components.allSatisfy { component in
            let way = (to.components[component] - from.components[component]).magnitude
            let before =
                index == 1 ? from.components[component] : value(of: component, at: first)
            let next = value(of: component, at: last)
            let between = value(of: component, at: half)
            return (between - (before + next) / 2).magnitude <= way * Self.deviationMax
                && (next - before).magnitude <= arc
        }
    }

    /// The unit of the tween's numbers if they are angles.
    package enum AngleUnit: UInt8, Hashable, Sendable {
        case degrees, radians

        static let choices: [(String, AngleUnit)] = [
            ("degrees", .degrees), ("radians", .radians),
        ]

        package var name: String { Self.choices[Int(rawValue)].0 }

        fileprivate func degrees(_ count: Double) -> Double {
            self == .degrees ? count : count * .pi / 180
        }
    }
}
