/// Why a retry of a dead letter cannot send anything.
package enum RetryObstacle: String, Error, Hashable, Sendable, CaseIterable {
    case noCard = "no_card"
    case noToken = "no_token"
    case noStartToken = "no_start_token"
    case cardBegun = "card_begun"
    case cardOver = "card_over"
    case onChannel = "on_channel"
    case pushUnderWay = "push_under_way"

    /// The reason as a clause for people.
    package var sentence: String {
        switch self {
        case .noCard: "the relay does not know its card any more"
        case .noToken: "the relay has no token of its card"
        case .noStartToken: "the relay has no token to start a card with"
        case .cardBegun: "its card may have begun since, and another start would show a second one"
        case .cardOver: "its card is over, or its activity ended before there was one"
        case .onChannel: "its card listens on a channel now"
        case .pushUnderWay: "another push to it is under way; try again in a moment"
        }
    }
}

/// How many dead letters stay for one reason.
package struct KeptLetters: Hashable, Sendable {
    package var obstacle: RetryObstacle
    package var count: Int

    package init(_ obstacle: RetryObstacle, count: Int) {
        self.obstacle = obstacle
        self.count = count
    }
}

extension Stored {
    mutating func keep(_ obstacle: RetryObstacle, count: Int = 1) {
        unreachable += count
        if let index = kept.firstIndex(where: { $0.obstacle == obstacle }) {
            kept[index].count += count
        } else {
            kept.append(KeptLetters(obstacle, count: count))
        }
    }

    /// Adds the counts of another piece of the same retry.
    package mutating func add(_ piece: Stored) {
        count += piece.count
        for letters in piece.kept { keep(letters.obstacle, count: letters.count) }
    }
}
