package import TomboloJSON

/// The parts of a content state that a phone shows: `significant` and `round` of a type (pacing
/// rule 17).
package struct Visibility: Hashable, Sendable {
    /// A number that a phone shows rounded to multiples of a step.
    package struct Rounding: Hashable, Sendable {
        package var pointer: JSONPointer
        /// Positive and finite.
        package var step: Double
    }

    /// The visible values, with all that is inside them. Empty: all values are visible.
    package var significant: [JSONPointer]
    /// Numbers that are visible only in steps, even if they are not in `significant`.
    package var round: [Rounding]

    /// A hash of the visible parts of a state: states that look the same have the same hash.
    ///
    /// Only numbers are rounded. A missing value differs from all values.
    func hash(of state: JSON) -> UInt64 {
        var hash = ContentHash()
        var rest = state
        for rounding in round {
            guard let value = state.document.root.at(rounding.pointer)?.double else { continue }
            let steps = (value / rounding.step).rounded()
            // Adding 0 makes 0 of -0. If the quotient is too large, the number itself is hashed.
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

    /// Replaces a number that is already hashed in steps.
    private static let rounded = JSON(unchecked: Array("0".utf8))
}

/// The hash of the visible parts of one version of an activity.
struct VisibleState: Hashable, Sendable {
    var activity: ActivityNumber
    var version: Int64
    var changedAt: Instant
    var hash: UInt64
}
