/// What a person did last on a phone, and whether the relay took it.
package struct PhoneTap: Hashable, Sendable {
    /// What became of it. It is never sent later: who tapped has gone on.
    package enum Outcome: Hashable, Sendable {
        case waiting
        case sent(action: String)
        case notSent(reason: String)
    }

    /// The phone's own number for it, counting from 1.
    package let number: Int
    /// The card, or the card whose button it was.
    package let activity: String?
    /// The kind of the widget, and what it, or its item, is configured to.
    package let widget: String?
    package let config: String?
    package let link: String?
    package let intent: String?
    /// Of the intent: one JSON object.
    package let parameters: [UInt8]?
    package let at: WallInstant
    package internal(set) var outcome = Outcome.waiting

    /// Without an answer in this time the phone shows "not sent".
    package static let patience: Duration = .seconds(5)

    /// As its user sees it.
    package func outcome(at now: WallInstant) -> Outcome {
        guard outcome == .waiting, now - at >= Self.patience else { return outcome }
        return .notSent(reason: "no answer in 5 s")
    }
}
