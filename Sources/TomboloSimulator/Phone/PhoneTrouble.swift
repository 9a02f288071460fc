/// Silent faults of a phone, as people observed them on real phones.
package struct PhoneTrouble: Hashable, Sendable {
    /// Faults that are on or off.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The widget extension is no longer called: the state changes, but the picture stays.
        case extensionFrozen = "extension_frozen"
        /// A spinner covers the old picture until the app is opened.
        case loadingOverlay = "loading_overlay"
        /// The stale date passes without a new picture.
        case staleNotDrawn = "stale_not_drawn"
        /// The push-to-start token has no effect until the app is opened, as after a force-quit.
        case startTokenSilent = "start_token_silent"
        /// The system does not notify the app of its push-to-start tokens until the app is opened.
        case startStreamSilent = "start_stream_silent"
        /// Low Power Mode: no push starts an activity.
        case lowPower = "low_power"
    }

    package var kinds: Set<Kind> = []
    /// Probability from 0 to 1 that a started card gets its update token only after "Allow".
    package var noUpdateToken = 0.0
    /// Largest random delay of a start.
    package var startJitter = Duration.zero
    /// Age at which an update token becomes invalid while its card lives; nil means never.
    package var tokenDiesAfter: Duration?
    /// How long pushes to a dismissed card's token are still answered with 200.
    package var deadTokenGrace = Duration.seconds(6 * 3_600)

    package init() {}
}
