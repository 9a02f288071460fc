/// One of the twelve steps of `device trial`, in their order.
enum TrialStep: String, CaseIterable {
    case startToken = "start token"
    case start
    case allow = "Allow"
    case update, alert
    case locked = "locked at 5"
    case ten = "ten in a minute"
    case widget = "widget reload"
    case swipe, relaunch
    case signOut = "sign-out"
    case end

    /// What the person with the phone does; nil if the step needs nobody.
    var instruction: String? {
        switch self {
        case .startToken: "Open the app, and close it again."
        case .allow: "If the card asks, tap \"Allow\"."
        case .locked: "Lock the phone within 15 s. Half a minute later unlock it, and open the app."
        case .swipe: "Swipe the card away, and open the app."
        case .relaunch:
            "Close the app in the app switcher within 15 s. Half a minute later open it again."
        case .signOut: "Sign out in the app."
        case .end: "Sign in again in the app, within 15 s."
        case .start, .update, .alert, .ten, .widget: nil
        }
    }

    /// What a phone and an app that do their part show.
    var expectation: String {
        switch self {
        case .startToken: "the app has registered a start token of the type"
        case .start: "Apple takes the start"
        case .allow: "the app registers the card's update token within seconds of \"Allow\""
        case .update: "the app reports the new state within seconds"
        case .alert: "the app reports the state of an update with an alert"
        case .locked: "an update of priority 5 is on the phone at the latest when it is unlocked"
        case .ten: "of ten updates in a row the last one is on the phone"
        case .widget: "the widget fetches after a reload by push"
        case .swipe: "the app reports that the user dismissed the card"
        case .relaunch: "the app reports the card again after its process has ended"
        case .signOut: "the card of the former user ends"
        case .end: "the app reports that the card has ended"
        }
    }

    /// Where to look if the step fails; sections are those of `Protocol/app.md`.
    var next: String {
        switch self {
        case .startToken: "sections 1 and 3: read pushToStartToken, and await its updates"
        case .start: "tombolo why names what Apple or the pacer says"
        case .allow:
            "section 4: await activityUpdates and pushTokenUpdates in the app delegate; section 5"
        case .update, .alert:
            "section 9: does the state decode, and does the app await contentUpdates?"
        case .locked: "section 3: report the card when the app comes to the front"
        case .ten: "tombolo why tells what the pacer held back, and the phone's budget"
        case .widget: "the token of WidgetPushHandler, and the widget's kind"
        case .swipe: "section 3: await activityStateUpdates, and report \"by\": \"user\""
        case .relaunch: "section 3: read Activity.activities at each launch"
        case .signOut: "section 6: end the cards in the app, and PUT the device without its user"
        case .end: "section 3: await activityStateUpdates, and report the first end state"
        }
    }
}
