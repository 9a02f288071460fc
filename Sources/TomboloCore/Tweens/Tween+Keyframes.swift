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
        let least = max(every, granted).nanoseconds
        let most = max(1, min(Self.partsMax, length.nanoseconds / max(1, least)))
        var parts = max(
            1, (length.nanoseconds - 1) / Self.keyframeSpanMax.nanoseconds + 1)
        while parts < most, !isClose(parts) { parts += 1 }
        return Span(nanoseconds: length.nanoseconds / max(1, min(parts, most)))
    }

    /// Whether straight ways between so many keyframes stay close to the tween.
    private func isClose(_ parts: Int64) -> Bool {
        let part = length.nanoseconds / parts
        var last = state(at: .zero).value.components
        for index in 1...parts {
            let end = Span(nanoseconds: index == parts ? length.nanoseconds : part * index)
            let middle = Span(nanoseconds: end.nanoseconds - part / 2)
            let (next, between) = (
                state(at: end).value.components, state(at: middle).value.components
            )
            for (component, value) in next.enumerated() {
                let way = abs(to.components[component] - (from?.components[component] ?? value))
                let chord = (last[component] + value) / 2
                if abs(between[component] - chord) > way * Self.deviationMax { return false }
                // Parts are whole nanoseconds: the last is a little longer.
                let arc = unit.map { $0.degrees(Self.arcMax) * (1 + 1e-6) } ?? .infinity
                if abs(value - last[component]) > arc { return false }
            }
            last = next
        }
        return true
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
