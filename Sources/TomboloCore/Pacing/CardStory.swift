/// How far the history of one card has come: each step is in it once.
enum CardStory: UInt8, Hashable, Sendable {
    case none = 0
    /// The phone has the card.
    case began = 1
    /// Apple has called its token dead before its time.
    case lost = 2
    /// The system has ended it, for its age or at the app's word.
    case ended = 3
    /// It is off the phone.
    case dismissed = 4

    /// The fact that tells of the step.
    var fact: String {
        switch self {
        case .none: "card.none"
        case .began: "card.began"
        case .lost: "card.lost"
        case .ended: "card.ended"
        case .dismissed: "card.dismissed"
        }
    }

    /// Goes on to a step; false where that is no news. A card that was lost may turn up again, and
    /// so may one that was over by the relay's clock alone.
    ///
    /// - Parameter isLive: it has its route, and its phone has not called it over.
    mutating func take(_ step: CardStory, isLive: Bool) -> Bool {
        let isNews =
            step == .began
            ? self == .none || self == .lost || self == .ended && isLive
            : step.rawValue > rawValue
        if isNews { self = step }
        return isNews
    }
}
