/// An effect of a phone's rules. The simulator performs effects in order.
package enum PhoneEffect: Hashable, Sendable {
    /// The system issued a token. Apple accepts it from now on, and the app reports it.
    case tokenIssued(String, TokenPurpose)
    /// The system issued a token but did not notify the app.
    case tokenIssuedSilently(String, TokenPurpose)
    /// The token is invalid: Apple answers 410 from now on.
    case tokenRetired(String, TokenPurpose, TokenEnd)
    /// The island shows something new.
    case changed(ActivityCard, IslandChange)
    /// A card has a new picture.
    case drawn(ActivityCard)
    case ignored(IgnoredPush)
    /// Widgets or a control were reloaded by push. `count` includes this reload.
    case reloaded(TokenPurpose, count: Int)
    /// A widget fetches a timeline, with the ETag of its current one.
    case widgetFetch(Widget)
    /// A widget shows something new.
    case widgetDrawn(Widget)
    /// The gallery fetches the snapshots of all families of a kind.
    case galleryOpened(WidgetGallery)
    /// The app came to the foreground or left it. The app itself sees only scene phases and
    /// touches.
    case moved(AppPresence)
    /// The app in the foreground saw a touch.
    case touched(PhoneGlass.Point)
    case statusBar(hidden: Bool)
    /// The user tapped something, and the app reports it to its backend.
    case tapped(PhoneTap)
    /// The user switched frequent updates for the app on or off.
    case frequentUpdatesAllowed(Bool)
}

/// Why and since when a token is invalid, as reported by a 410.
package struct TokenEnd: Hashable, Sendable {
    /// `unregistered` or `expiredToken`.
    package var reason: RefusalReason
    package var at: WallInstant
}

/// Purpose of a token, in the terms of the relay's API.
package enum TokenPurpose: Hashable, Sendable {
    case start(attributesType: String)
    /// An activity's update token. If the id is nil, the app cannot report the token.
    case update(activityID: String?)
    /// All widgets of the app. Before OS 26 it is the app's device token, whose background pushes
    /// wake the app.
    case widget
    case control(kind: String)

    /// Name of the purpose in the relay's API; nil for an activity without an id.
    package var name: String? {
        switch self {
        case .start(let type): "start:" + type
        case .update(let id): id.map { "activity:" + $0 }
        case .widget: "widget"
        case .control(let kind): "control:" + kind
        }
    }
}

/// How a card changed.
package enum IslandChange: String, Hashable, Sendable {
    case shown, stale, ended, dismissed
    /// A stale card became active again: its stale date was moved without a new state.
    case active
}
