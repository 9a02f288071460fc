/// The page of a cause on the phone that facts cannot prove. `why` names it if the reports fit.
package struct SuspectPage: Hashable, Sendable {
    /// The code in the answer of `why`.
    package let code: String
    package let title: String
    /// What the phone does.
    package let effect: String
    package let fix: String

    /// The last part of the page's path.
    package var slug: String { code.split(separator: "_").joined(separator: "-") }

    /// All pages.
    package static let pages = [
        SuspectPage(
            code: "extension_frozen", title: "A widget extension that is not called any more",
            effect:
                "The phone has the newest state, and its picture stays as it was: the system has "
                + "stopped to call the extension, long before the card's eight hours.",
            fix:
                "Open the app, or let the card begin anew (renew: always). Keep the extension small: "
                + "one that uses much memory is stopped first."),
        SuspectPage(
            code: "loading_overlay", title: "A spinner over the card",
            effect: "A loading spinner lies over the old picture until the app is opened.",
            fix: "Open the app. A state that decodes at once, without work in the view, avoids it."),
        SuspectPage(
            code: "stale_not_drawn", title: "A stale card that does not look stale",
            effect:
                "When the stale date passes, a card whose app is dead is not drawn anew: it goes "
                + "on showing what is not so any more.",
            fix: "Send an update, or an end, before the stale date. end_after ends it for you."),
        SuspectPage(
            code: "low_power", title: "Low Power Mode",
            effect: "The phone suppresses starts, and draws late what came at priority 5.",
            fix: "Nothing that a server can do. Send what matters with an alert or urgency high."),
        SuspectPage(
            code: "activities_off", title: "Live Activities switched off",
            effect: "The user allows the app no Live Activities: no card begins on the phone.",
            fix: "Nothing that a server can do. The app may say what the user misses."),
        SuspectPage(
            code: "frames_hidden", title: "Frames behind the app",
            effect: "The app is in front of the card. The relay sends it no frames of a clip "
                + "meanwhile, and counts them as hidden.",
            fix: "Nothing, where the app shows the same. Else start the activity with show_when "
                + "{\"frames\": \"always\"}."),
    ]

    /// The page with this last part of the path; nil if there is none.
    package static func page(_ slug: String) -> SuspectPage? {
        pages.first { $0.slug == slug }
    }

    /// The page as plain text.
    package var text: String {
        """
        \(title)
        suspect \(code): only the phone can know it

        What happens
          \(effect)

        Fix
          \(fix)

        Command
          tombolo why ACTIVITY DEVICE

        """
    }
}
