/// One Live Activity on one phone, as its Dynamic Island and Lock Screen show it.
package struct ActivityCard: Hashable, Sendable {
    /// ActivityKit's states.
    package enum Phase: Hashable, Sendable {
        case active
        /// The stale date has passed. A later stale date makes the card active again.
        case stale
        /// Removed from the Dynamic Island. Stays on the Lock Screen until this time.
        case ended(until: WallInstant)
        case dismissed

        /// Name of the phase in the relay's API.
        package var name: String {
            switch self {
            case .active: "active"
            case .stale: "stale"
            case .ended: "ended"
            case .dismissed: "dismissed"
            }
        }
    }

    /// The phone's own number for the card, from 1. Two starts make two cards.
    package let number: Int
    package let attributesType: String
    /// The relay's id of the activity, from `attributes.activity_id`; nil if it is missing.
    package let activityID: String?
    package let startedAt: WallInstant
    package internal(set) var phase = Phase.active
    /// The current content state, byte for byte as received.
    package internal(set) var contentState: [UInt8]
    /// Number of changes of the state, including the start.
    package internal(set) var shownCount = 1
    package let firstShownAt: WallInstant
    /// Time of the last change of the state.
    package internal(set) var shownAt: WallInstant
    /// Text of the last alert in a push for this card.
    package internal(set) var alert: String?
    /// Number of pushes for this card that changed nothing.
    package internal(set) var ignoredCount = 0
    /// The newest timestamp that was applied, in Unix seconds.
    var timestamp: Int64
    /// The channel on which the card listens, if any; such a card has no update token.
    package internal(set) var channelID: String?
    var staleAt: WallInstant?
    /// Time of the app's own last update.
    package internal(set) var localUpdateAt: WallInstant?
    var updateToken: String?
    /// When the app will get the update token; nil if it already has it or never will.
    var updateTokenDueAt: WallInstant?
    var budget: TokenBucket?
    /// The state in the picture that was drawn last: what the user sees.
    package internal(set) var drawnState: [UInt8]
    package internal(set) var drawnPhase = Phase.active
    package internal(set) var drawnAt: WallInstant
    /// Number of drawn pictures, including the first.
    package internal(set) var drawnCount = 1
    /// When the phone draws the card again; nil if there is nothing new.
    var drawDueAt: WallInstant?
    /// True while a spinner hides the picture, until the app is opened.
    package internal(set) var hasOverlay = false

    /// True if the user has swiped the card away.
    package internal(set) var isSwiped = false
    /// True if the user tapped "Don't Allow".
    package internal(set) var isDenied = false

    /// True if the picture shows an older state.
    package var isBehind: Bool { drawnState != contentState }
    /// True if the app gets the update token only after the user taps "Allow".
    package var waitsForAllow: Bool {
        updateToken == nil && channelID == nil && !isDenied && !isOver
    }

    /// An activity is active for at most 8 hours, and stays on the Lock Screen for 4 more hours.
    package static let activeTimeMax: Duration = .seconds(8 * 3_600)
    package static let endedTimeMax: Duration = .seconds(4 * 3_600)

    init(
        number: Int, attributesType: String, activityID: String?, contentState: [UInt8],
        timestamp: Int64, at now: WallInstant
    ) {
        self.number = number
        self.attributesType = attributesType
        self.activityID = activityID
        self.contentState = contentState
        self.timestamp = timestamp
        startedAt = now
        firstShownAt = now
        shownAt = now
        drawnState = contentState
        drawnAt = now
    }

    var isOver: Bool {
        switch phase {
        case .active, .stale: false
        case .ended, .dismissed: true
        }
    }

    /// Sets the state. Returns true if it differs from the current one.
    mutating func show(_ state: [UInt8], at now: WallInstant) -> Bool {
        guard state != contentState else { return false }
        contentState = state
        shownCount += 1
        shownAt = now
        return true
    }

    /// The next time at which the card changes by itself.
    var deadline: WallInstant? {
        switch phase {
        case .active:
            earliest([drawDueAt, updateTokenDueAt, staleAt, startedAt + Self.activeTimeMax])
        case .stale: earliest([drawDueAt, updateTokenDueAt, startedAt + Self.activeTimeMax])
        case .ended(let until): earliest([drawDueAt, until])
        case .dismissed: nil
        }
    }

    private func earliest(_ instants: [WallInstant?]) -> WallInstant? {
        instants.compactMap(\.self).min()
    }
}
