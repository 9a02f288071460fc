/// A Live Activity as the app finds it in `Activity.activities` or `activityUpdates`.
public struct SeenCard: Hashable, Sendable {
    /// ActivityKit's own id of the card. If an activity is started twice, it has two cards.
    public var id: String
    /// The relay's name for the card, read from its attribute `activity_id`; nil if there is none.
    public var name: String?

    public init(id: String, name: String?) {
        self.id = id
        self.name = name
    }
}

/// What happens to an app. `AppContract` takes these events.
public enum AppEvent: Hashable, Sendable {
    /// The process began, in the foreground or in the background.
    case launched
    /// `scenePhase` changed.
    case scene(ScenePresence.Phase)
    /// A touch began. Its place is a fraction of the screen's width and height, from the top left.
    case touch(x: Double, y: Double)
    case statusBar(hidden: Bool)
    /// The network is available again.
    case networkReturned
    /// A push-to-start token in hex, read from `pushToStartToken` or yielded by
    /// `pushToStartTokenUpdates`. Empty if the property was nil.
    case startToken(type: String, String)
    /// The token of all widgets, or of a kind of control, in hex.
    case widgetToken(String)
    case controlToken(kind: String, String)
    /// The whole of `Activity.activities`.
    case activities([SeenCard])
    /// `activityUpdates` yielded a card.
    case appeared(SeenCard)
    /// An update token in hex, read from `pushToken` or yielded by `pushTokenUpdates`.
    case updateToken(card: String, String)
    /// `activityStateUpdates` or `contentUpdates` of a card yielded a value, or its view was drawn.
    case word(card: String, CardWord)
    /// Facts of the device changed, such as `frequentPushEnablementUpdates`.
    case facts(DeviceFacts)
    /// The backend gave the app a key that is bound to this user; nil for an app without users.
    case signedIn(user: String?)
    case signedOut
}

/// What an app must do now. `AppContract` returns these actions.
public enum AppAction: Hashable, Sendable {
    /// Read `pushToStartToken` of each type, and begin to await `pushToStartTokenUpdates` if this
    /// process does not do so yet. A value may come late, so read again after 2 s.
    case readStartTokens
    /// Read `Activity.activities` of each type, and begin to await `activityUpdates` if this
    /// process does not do so yet.
    case readActivities
    /// Begin to observe this card: `pushToken` and `pushTokenUpdates`, `activityStateUpdates` and
    /// `contentUpdates`. The action comes once for each card in a process.
    case observe(card: String)
    /// End this card at once: `end(nil, dismissalPolicy: .immediate)`.
    case end(card: String)
    /// The key is missing, or the relay refused it. Get one from the backend, then pass `signedIn`.
    case askForKey
    /// Let the backend delete the key and remove the device's user.
    case signOut
}
