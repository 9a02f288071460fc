/// The last push to a destination that was not only a frame.
package struct DeliveryView: Hashable, Sendable {
    /// How a push reaches a card.
    package enum Route: String, Named, Sendable, CaseIterable {
        case updateToken = "update_token"
        case pushToStart = "push_to_start"
        case channel
    }

    package var version: Int64
    package var route: Route
    package var apnsID: APNsID
    package var priority: UInt8
    /// Apple's answer; nil while the push is in flight.
    package var result: PushResult?
    package var took: Span
    /// True if it had priority 5 despite its high urgency (`Reserve`).
    package var isReserved = false

    /// True if this push contains the version and had priority 5 because of the reserve.
    package func keepsBack(_ version: Int64) -> Bool { isReserved && self.version >= version }

    package var id: String { apnsID.deliveryID }
}
