/// A user's tap on a phone, and its outcome at the relay.
package struct PhoneTap: Hashable, Sendable {
    /// Outcome of the tap. If a tap cannot be sent, it is not sent later, because the user has
    /// moved on.
    package enum Outcome: Hashable, Sendable {
        case waiting
        case sent(action: String)
        case notSent(reason: String)
    }

    /// The phone's own number for the tap, from 1.
    package let number: Int
    /// The tapped card, or the card of the tapped button.
    package let activity: String?
    /// The kind of the tapped widget, and the configuration of it or of its tapped item.
    package let widget: String?
    package let config: String?
    package let link: String?
    package let intent: String?
    /// Parameters of the intent: one JSON object.
    package let parameters: [UInt8]?
    package let at: WallInstant
    package internal(set) var outcome = Outcome.waiting

    /// If no answer comes within this time, the phone shows "not sent".
    package static let patience: Duration = .seconds(5)

    /// The outcome as the user sees it.
    package func outcome(at now: WallInstant) -> Outcome {
        guard outcome == .waiting, now - at >= Self.patience else { return outcome }
        return .notSent(reason: "no answer in 5 s")
    }
}
