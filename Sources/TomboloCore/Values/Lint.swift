/// A warning about a silent failure: APNs would answer 200, but the phone would show nothing, or
/// something else than intended. A lint never refuses a command.
package struct Lint: Hashable, Sendable {
    /// The lint's name: the last part of its page's path under `/problems/`.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case stateDoesNotDecode = "state-does-not-decode"
        case stateUnknownMember = "state-unknown-member"
        case dateInAnotherEpoch = "date-in-another-epoch"
        case startWithoutAlert = "start-without-alert"
        case alertWithoutTitle = "alert-without-title"
        case alertSoundUnknown = "alert-sound-unknown"
        case startWithoutAttributes = "start-without-attributes"
        case payloadUnreadable = "payload-unreadable"
        case payloadMember = "payload-member"
        case payloadTooLarge = "push-too-large"
        case payloadNearLimit = "push-near-limit"
        case escapedSlashes = "escaped-slashes"
        case formerKeyLives = "former-key-lives"
        case environmentUnstated = "environment-unstated"
        case environmentChanged = "environment-changed"
        case memberNotUnderstood = "member-not-understood"
        case topicSuffix = "topic-suffix"
        case priorityBeyondBudget = "priority-beyond-budget"
        case priorityRefused = "priority-refused"
        case timestampMissing = "timestamp-missing"
        case timestampInMilliseconds = "timestamp-in-milliseconds"
        case timestampInThePast = "timestamp-in-the-past"
        case timestampTooFarAhead = "timestamp-too-far-ahead"
        case staleDateNotInFuture = "stale-date-not-in-future"
        case dismissalDateNotInFuture = "dismissal-date-not-in-future"
        case dismissalDateCut = "dismissal-date-cut"
        case activityNearItsEnd = "activity-near-its-end"
        case startTokenOld = "start-token-old"
        case tokenRefused = "token-refused"
        case updateAfterEnd = "update-after-end"
        case channelEnvironment = "channel-environment"
        case channelExpiration = "channel-expiration"
        case channelStart = "channel-start"
        case upstreamClosed = "upstream-closed"
        case newRequiredField = "new-required-field"
        case typeRefusesRunning = "type-refuses-running"
        case clipBundleUndeclared = "clip-bundle-undeclared"
        case clipSlowed = "clip-slowed"
        case clipCoversUpdate = "clip-covers-update"
        case clipForever = "clip-forever"
        case startNotStored = "start-not-stored"
        case expirationRelative = "expiration-relative"
        case presenceOnChannel = "presence-on-channel"
        case linksInSmallFamilies = "links-in-small-families"
        case activityIDUnknown = "activity-id-unknown"
        case audienceMissing = "audience-missing"
        case deviceNotRegistered = "device-not-registered"
        case userWithoutDevice = "user-without-device"
        case typeNotRegistered = "type-not-registered"
        case startNeedsNewerOS = "start-needs-newer-os"
        case appNotConfigured = "app-not-configured"
        case stateVersionOlder = "state-version-older"
        case pauseInForce = "pause-in-force"
    }

    /// Maximum number of lints of one command.
    static let countMax = 20

    package var code: Code
    /// JSON Pointer into the request's body; empty for the whole body.
    package var pointer: String
    /// What will happen and what to do, as text for people.
    package var message: String

    package init(_ code: Code, _ pointer: String, _ message: String) {
        self.code = code
        self.pointer = pointer
        self.message = message
    }
}

extension [Lint] {
    mutating func warn(_ code: Lint.Code, _ pointer: String, _ message: String) {
        append(Lint(code, pointer, message))
    }

    /// `+=` allocates also if there is nothing to add.
    mutating func gather(_ more: [Lint]) {
        if !more.isEmpty { self += more }
    }
}
