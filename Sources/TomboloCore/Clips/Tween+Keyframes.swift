// Keyframes: the phone fills in what is between two states (Apple, "Animating state changes":
// at most two seconds).

extension Tween {
    /// A phone animates a change of state for no longer than this.
    package static let keyframeSpanMax = Span.seconds(2)
    /// Of an angle, no part is longer: a chord of 30 degrees leaves its circle by 3.4 % of the
    /// radius, and what an app lays out by it does not cut through the middle.
    private static let arcMax = 30.0
    /// What is between two keyframes may be off by so much of the whole way.
    private static let deviationMax = 1.0 / 50
    /// More parts are not tried.
    private static let partsMax: Int64 = 256

    /// How far keyframes stand apart: as far as the phone can fill in, and as the grant asks.
    func keyframeInterval(granted: Span) -> Span {
        guard length > .zero else { return every }
        let least = max(1, max(every, granted).nanoseconds)
        let most = max(1, min(Self.partsMax, length.nanoseconds / least))
        return Span(nanoseconds: length.nanoseconds / min(closeParts, most))
    }

    /// The least number of parts whose straight ways stay close to the tween. Of many parts some
    /// are passed over: a try that holds costs as much as it has parts.
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
        // Where so many parts are too few, a few more mostly are too: that place is tried first.
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

    /// Whether the straight way of one of so many parts stays close to these components.
    private func isClose(
        _ index: Int64, of parts: Int64, _ components: [Int], _ from: Animatable
    ) -> Bool {
        let part = length.nanoseconds / parts
        // Parts are whole nanoseconds: the last is a little longer.
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

    /// What the numbers of a tween are, where they turn something.
    package enum AngleUnit: UInt8, Hashable, Sendable {
        case degrees, radians

        static let choices: [(String, AngleUnit)] = [
            ("degrees", .degrees), ("radians", .radians),
        ]

        package var name: String { Self.choices[Int(rawValue)].0 }

        /// So many degrees, in this unit.
        fileprivate func degrees(_ count: Double) -> Double {
            self == .degrees ? count : count * .pi / 180
        }
    }
}
