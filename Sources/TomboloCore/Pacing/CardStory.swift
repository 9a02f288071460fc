/// The steps in the history of one card; each is recorded once.
enum CardStory: UInt8, Hashable, Sendable {
    case none = 0
    /// The phone has the card.
    case began = 1
    /// Apple has declared its token dead before its time.
    case lost = 2
    /// The system has ended it, because of its age or the app.
    case ended = 3
    /// It has been removed from the phone.
    case dismissed = 4

    /// The kind of the step's fact.
    var fact: String {
        switch self {
        case .none: "card.none"
        case .began: "card.began"
        case .lost: "card.lost"
        case .ended: "card.ended"
        case .dismissed: "card.dismissed"
        }
    }

    /// Moves to a step; false if it is not new. A card that was lost may appear again, and so may
    /// one that had only ended by the relay's clock.
    ///
    /// - Parameter isLive: true if it has a route and its phone has not reported its end.
    mutating func take(_ step: CardStory, isLive: Bool) -> Bool {
        let isNews =
            step == .began
            ? self == .none || self == .lost || self == .ended && isLive
            : step.rawValue > rawValue
        if isNews { self = step }
        return isNews
    }
}
