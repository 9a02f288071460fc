/// One Live Activity on one phone: what its Dynamic Island and Lock Screen show.
package struct ActivityCard: Hashable, Sendable {
    /// ActivityKit's states, with the instant at which each ends by itself.
    package enum Phase: Hashable, Sendable {
        case active
        /// The stale date has passed; a newer one makes it active again.
        case stale
        /// Off the Dynamic Island, on the Lock Screen until then.
        case ended(until: WallInstant)
        case dismissed

        /// As the relay's API spells it.
        package var name: String {
            switch self {
            case .active: "active"
            case .stale: "stale"
            case .ended: "ended"
            case .dismissed: "dismissed"
            }
        }
    }

    /// The phone's own number for it, counting from 1. Two starts make two cards.
    package let number: Int
    package let attributesType: String
    /// The relay's id, read by the app from `attributes.activity_id`; nil where the relay wrote
    /// none.
    package let activityID: String?
    package let startedAt: WallInstant
    package internal(set) var phase = Phase.active
    /// The content state shown, byte for byte as it came.
    package internal(set) var contentState: [UInt8]
    /// How often the shown state changed, the start included.
    package internal(set) var shownCount = 1
    package let firstShownAt: WallInstant
    /// The last change of the shown state.
    package internal(set) var shownAt: WallInstant
    /// The text of the last alert that came with a push for it.
    package internal(set) var alert: String?
    /// Pushes for this card that changed nothing.
    package internal(set) var ignoredCount = 0
    /// The newest timestamp applied, Unix seconds.
    var timestamp: Int64
    /// The channel that it listens on, instead of having an update token.
    package internal(set) var channelID: String?
    var staleAt: WallInstant?
    /// The app's own last update.
    package internal(set) var localUpdateAt: WallInstant?
    var updateToken: String?
    /// When the user taps "Allow"; nil when that is done, or never happens.
    var updateTokenDueAt: WallInstant?
    var budget: TokenBucket?
    /// The state of the newest picture: what a person sees.
    package internal(set) var drawnState: [UInt8]
    package internal(set) var drawnPhase = Phase.active
    package internal(set) var drawnAt: WallInstant
    /// Pictures drawn, the first included.
    package internal(set) var drawnCount = 1
    /// When the phone draws again, where there is something new; nil: nothing is.
    var drawDueAt: WallInstant?
    /// A spinner hides the picture until the app is opened.
    package internal(set) var hasOverlay = false

    /// The user has swiped it away.
    package internal(set) var isSwiped = false
    /// The user tapped "Don't Allow".
    package internal(set) var isDenied = false

    /// Whether the picture is older than the state.
    package var isBehind: Bool { drawnState != contentState }
    /// Whether its token waits for "Allow".
    package var waitsForAllow: Bool {
        updateToken == nil && channelID == nil && !isDenied && !isOver
    }

    /// An activity is active for at most 8 hours, and stays on the Lock Screen for 4 more.
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

    /// Shows a state; true where it differs from the one shown.
    mutating func show(_ state: [UInt8], at now: WallInstant) -> Bool {
        guard state != contentState else { return false }
        contentState = state
        shownCount += 1
        shownAt = now
        return true
    }

    /// The next instant at which something happens by itself.
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
