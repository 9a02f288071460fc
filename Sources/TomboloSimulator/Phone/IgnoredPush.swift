/// A push that APNs answered with 200 and that changed nothing. A real phone never reports it.
package struct IgnoredPush: Hashable, Sendable {
    /// The reason, as the log and the simulator's output name it.
    package enum Reason: String, CaseIterable, Hashable, Sendable {
        /// No `aps` object, or an `event` other than start, update and end.
        case unreadable
        case timestampMissing = "timestamp_missing"
        case timestampNotWholeSeconds = "timestamp_not_whole_seconds"
        case timestampInMilliseconds = "timestamp_in_milliseconds"
        case timestampInThePast = "timestamp_in_the_past"
        case timestampTooFarAhead = "timestamp_too_far_ahead"
        case timestampOlderThanShown = "timestamp_older_than_shown"
        case contentStateMissing = "content_state_missing"
        case contentStateDoesNotDecode = "content_state_does_not_decode"
        case alertMissing = "alert_missing"
        case attributesMissing = "attributes_missing"
        case attributesDoNotDecode = "attributes_do_not_decode"
        /// The token starts activities of another type, or the app has no such type.
        case attributesTypeMismatch = "attributes_type_mismatch"
        case startOverBudget = "start_over_budget"
        /// The app's budget is used up. The phone holds the push until the phone is used or a
        /// window ends.
        case heldOverBudget = "held_over_budget"
        /// A newer push replaced this held push: only one is held.
        case replacedOverBudget = "replaced_over_budget"
        case updateBudgetExceeded = "update_budget_exceeded"
        case tooManyActivities = "too_many_activities"
        case activityEnded = "activity_ended"
        /// A `start` was sent to an update token, or an update or end to a push-to-start token.
        case wrongToken = "wrong_token"
        /// `input-push-channel` before iOS 18.
        case channelNeedsNewerOS = "channel_needs_newer_os"
        /// `input-push-channel` names an unknown channel, so the activity does not start.
        case channelUnknown = "channel_unknown"
        case reloadBudgetExceeded = "reload_budget_exceeded"
        /// A stale or dismissal date is not a whole second; the push itself was applied.
        case dateNotWholeSeconds = "date_not_whole_seconds"
        /// The stale date has already passed, so the card is stale at once; the push was applied.
        /// If it passed half an hour before a start, no card is shown.
        case staleDateNotInFuture = "stale_date_not_in_future"
        /// A date in the state has an unlikely year, maybe from another epoch; the push was
        /// applied.
        case dateInAnotherEpoch = "date_in_another_epoch"
        /// The card started, but has no id under which the app could report its update token.
        case activityIDUnknown = "activity_id_unknown"
        /// The user has closed the app, so pushes start nothing.
        case appTerminated = "app_terminated"
        /// The push-to-start token has no effect until the app is opened.
        case startTokenSilent = "start_token_silent"
        /// Low Power Mode: pushes start nothing.
        case lowPower = "low_power"
        /// The phone was offline, and the push was not kept or expired meanwhile.
        case expiredWhileOffline = "expired_while_offline"
        /// The phone was offline, and a later push replaced this one: APNs keeps only one.
        case replacedWhileOffline = "replaced_while_offline"
    }

    package var reason: Reason
    /// Details for people, such as the name of the faulty member.
    package var detail: String
    package var at: WallInstant
    package var apnsID: String
    /// The relay's id of the activity, if the phone knows it.
    package var activityID: String?
}

/// Thrown if a push is ignored. The caller adds time and ids.
struct Ignored: Error {
    var reason: IgnoredPush.Reason
    var detail: String

    init(_ reason: IgnoredPush.Reason, _ detail: String = "") {
        self.reason = reason
        self.detail = detail
    }
}
