/// The last recorded step in the life of one card. Each step is recorded once.
enum CardStory: UInt8, Hashable, Sendable {
    case none = 0
    /// The phone has the card.
    case began = 1
    /// Apple has declared the card's token dead before the card's time was over.
    case lost = 2
    /// The system has ended the card because of its age, or the app has ended it.
    case ended = 3
    /// The phone has reported that the card was removed.
    case dismissed = 4

    var fact: String {
        switch self {
        case .none: "card.none"
        case .began: "card.began"
        case .lost: "card.lost"
        case .ended: "card.ended"
        case .dismissed: "card.dismissed"
        }
    }

    /// Moves to a step. Returns false if the step is not new. After `lost` a card may appear again;
    /// after `ended`, too, if it had ended only by the relay's clock.
    ///
    /// - Parameter isLive: true if pushes can reach the card and the phone has not reported its
    ///   end.
    mutating func take(_ step: CardStory, isLive: Bool) -> Bool {
        let isNews =
            step == .began
            ? self == .none || self == .lost || self == .ended && isLive
            : step.rawValue > rawValue
        if isNews { self = step }
        return isNews
    }
}
