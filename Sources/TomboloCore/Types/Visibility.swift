package import TomboloJSON

/// The parts of a content state that count as visible: `significant` and `round` of a type (pacing
/// rule 17).
package struct Visibility: Hashable, Sendable {
    /// A number that the phone shows in steps.
    package struct Rounding: Hashable, Sendable {
        package var pointer: JSONPointer
        /// Positive and finite.
        package var step: Double
    }

    /// The values that count, with everything inside them. Empty means that every value counts.
    package var significant: [JSONPointer]
    /// Numbers of which only the nearest multiple of a step counts, even if they are not in
    /// `significant`.
    package var round: [Rounding]

    /// A hash of the visible parts of a state: two states that look alike have the same hash.
    ///
    /// Values other than numbers are not rounded, and a missing value differs from all others.
    func hash(of state: JSON) -> UInt64 {
        var hash = ContentHash()
        var rest = state
        for rounding in round {
            guard let value = state.document.root.at(rounding.pointer)?.double else { continue }
            let steps = (value / rounding.step).rounded()
            // Adding zero turns -0 into 0. If the quotient overflows, the number itself counts.
            hash.combine((steps.isFinite ? steps + 0 : value).bitPattern)
            rest = rest.setting(rounding.pointer, to: Self.rounded) ?? rest
        }
        guard !significant.isEmpty else {
            hash.combine(rest.valueHash)
            return hash.value
        }
        let view = rest.document.root
        for pointer in significant {
            hash.combine(view.at(pointer)?.valueHash ?? 0)
        }
        return hash.value
    }

    /// Replaces a number that is counted in steps.
    private static let rounded = JSON(unchecked: Array("0".utf8))
}

/// A hash of the visible parts of one state of an activity.
struct VisibleState: Hashable, Sendable {
    var activity: ActivityNumber
    var version: Int64
    var changedAt: Instant
    var hash: UInt64
}
