/// What a phone's rules lead to: carried out by the simulator, in order.
package enum PhoneEffect: Hashable, Sendable {
    /// The system issued a token: Apple knows it from now on, and the app reports it.
    case tokenIssued(String, TokenPurpose)
    /// The same, but the system does not tell the app.
    case tokenIssuedSilently(String, TokenPurpose)
    /// The token is dead: Apple answers 410 from now on.
    case tokenRetired(String, TokenPurpose, TokenEnd)
    /// The island shows something else than before.
    case changed(ActivityCard, IslandChange)
    /// A card has a new picture.
    case drawn(ActivityCard)
    case ignored(IgnoredPush)
    /// Widgets, or a control, asked for what is new, so often by now.
    case reloaded(TokenPurpose, count: Int)
    /// A widget asks for a timeline, with the validator of what it has.
    case widgetFetch(Widget)
    /// A widget shows something else than before.
    case widgetDrawn(Widget)
    /// The gallery asks for the snapshots of a kind's families.
    case galleryOpened(WidgetGallery)
    /// The app came to the front, or left it, as the app itself takes it.
    case moved(AppPresence)
    /// A person has tapped something that the app tells its backend.
    case tapped(PhoneTap)
    /// The user allowed frequent updates for the app, or no longer does.
    case frequentUpdatesAllowed(Bool)
}

/// Why and since when a token is dead, as a 410 tells it.
package struct TokenEnd: Hashable, Sendable {
    /// `unregistered` or `expiredToken`.
    package var reason: RefusalReason
    package var at: WallInstant

    /// `reason`: `unregistered` or `expiredToken`.
    package init(reason: RefusalReason, at: WallInstant) {
        (self.reason, self.at) = (reason, at)
    }
}

/// What a token is for, in the words of the relay's API.
package enum TokenPurpose: Hashable, Sendable {
    case start(attributesType: String)
    /// An activity's update token; without an id the app has nothing to report it under.
    case update(activityID: String?)
    /// All widgets of the app; before OS 26, where there is none, the app's own token, by which it
    /// is woken in the background.
    case widget
    case control(kind: String)

    /// In a word, as the relay's API spells it; an activity without an id is told by none.
    package var name: String? {
        switch self {
        case .start(let type): "start:" + type
        case .update(let id): id.map { "activity:" + $0 }
        case .widget: "widget"
        case .control(let kind): "control:" + kind
        }
    }
}

/// How an island changed.
package enum IslandChange: String, Hashable, Sendable {
    case shown, stale, ended, dismissed
    /// The stale date moved on before a new state came.
    case active
}
