/// The last push to a destination, other than a frame.
package struct DeliveryView: Hashable, Sendable {
    /// The route of the push.
    package enum Route: UInt8, Hashable, Sendable, CaseIterable {
        case updateToken, pushToStart, channel

        /// Finds the route by its `name`.
        init?(name: String) {
            guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = found
        }

        package var name: String {
            switch self {
            case .updateToken: "update_token"
            case .pushToStart: "push_to_start"
            case .channel: "channel"
            }
        }
    }

    package var version: Int64
    package var route: Route
    package var apnsID: APNsID
    package var priority: UInt8
    /// nil while it is in flight.
    package var result: PushResult?
    package var took: Span
    /// True if it had priority 5 although its urgency is high (`Reserve`).
    package var isReserved = false

    package init(
        version: Int64, route: Route, apnsID: APNsID, priority: UInt8, result: PushResult?,
        took: Span
    ) {
        self.version = version
        self.route = route
        self.apnsID = apnsID
        self.priority = priority
        self.result = result
        self.took = took
    }

    /// True if a version was sent at priority 5 for this reason.
    package func keepsBack(_ version: Int64) -> Bool { isReserved && self.version >= version }

    /// The id in answers.
    package var id: String { apnsID.deliveryID }
}
