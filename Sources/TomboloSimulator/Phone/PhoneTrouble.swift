/// What goes wrong on a phone without a word to anybody, as people saw it on real ones.
package struct PhoneTrouble: Hashable, Sendable {
    /// What is either so or not.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The widget extension is not called any more: the state is right, the picture stays.
        case extensionFrozen = "extension_frozen"
        /// A spinner lies over the old picture until the app is opened.
        case loadingOverlay = "loading_overlay"
        /// The stale date passes without a new picture.
        case staleNotDrawn = "stale_not_drawn"
        /// The push-to-start token does nothing until the app is opened, as after a force-quit.
        case startTokenSilent = "start_token_silent"
        /// The app does not learn its push-to-start tokens until it is opened.
        case startStreamSilent = "start_stream_silent"
        /// Low Power Mode: no push starts an activity.
        case lowPower = "low_power"
    }

    package var kinds: Set<Kind> = []
    /// How likely a started card gets no update token without "Allow", from 0 to 1.
    package var noUpdateToken = 0.0
    /// A start is handled up to so much later.
    package var startJitter = Duration.zero
    /// An update token dies so long after its start, in mid-life; nil: it lives as long as its
    /// card.
    package var tokenDiesAfter: Duration?
    /// The token of a dismissed card is answered with 200 for so long.
    package var deadTokenGrace = Duration.seconds(6 * 3_600)

    package init() {}
}
