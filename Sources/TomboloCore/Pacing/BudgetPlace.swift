/// A destination's place in the list of budgets. It is made of values that the tenant knows, so it
/// reveals nothing about other tenants.
package struct BudgetPlace: Hashable, Comparable, Sendable {
    private let activity: Identifier
    private let incarnation: Int64
    private let device: Identifier

    /// The place of an activity's incarnation on a device.
    package init(activity: Identifier, incarnation: Int64, device: Identifier) {
        (self.activity, self.incarnation, self.device) = (activity, incarnation, device)
    }

    /// Parses `text`. Returns nil for other texts.
    package init?(_ text: String) {
        let parts = text.split(separator: "~", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let activity = Identifier(String(parts[0])),
            let incarnation = Int64(parts[1]), let device = Identifier(String(parts[2]))
        else { return nil }
        self.init(activity: activity, incarnation: incarnation, device: device)
    }

    /// The text for a cursor.
    package var text: String { "\(activity.rawValue)~\(incarnation)~\(device.rawValue)" }

    package static func < (one: BudgetPlace, other: BudgetPlace) -> Bool {
        if one.activity != other.activity { return one.activity < other.activity }
        if one.incarnation != other.incarnation { return one.incarnation < other.incarnation }
        return one.device < other.device
    }
}
