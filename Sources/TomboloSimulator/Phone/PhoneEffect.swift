/// What a phone's rules lead to: carried out by the simulator, in order.
package enum PhoneEffect: Hashable, Sendable {
    /// The system issued a token: Apple knows it from now on, and the app reports it.
    case tokenIssued(String, TokenPurpose)
    /// The token is dead: Apple answers 410 from now on.
    case tokenRetired(String, TokenPurpose)
    /// The island shows something else than before.
    case changed(ActivityCard, IslandChange)
    case ignored(IgnoredPush)
}

/// What a token is for, in the words of the relay's API.
package enum TokenPurpose: Hashable, Sendable {
    case start(attributesType: String)
    /// An activity's update token; without an id the app has nothing to report it under.
    case update(activityID: String?)
}

/// How an island changed.
package enum IslandChange: String, Hashable, Sendable {
    case shown, stale, ended, dismissed
    /// The stale date moved on before a new state came.
    case active
}
