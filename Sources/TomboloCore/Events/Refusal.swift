/// Why a request was refused. A refused request stores nothing.
package struct Refusal: Error, Hashable, Sendable {
    /// The refusal's name: the last part of the URI in the problem's `type`.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case activityRunning = "activity-running"
        case activityEnded = "activity-ended"
        case activityDamaged = "activity-damaged"
        case unknownActivity = "unknown-activity"
        case unknownDevice = "unknown-device"
        case unknownApp = "unknown-app"
        case unknownClip = "unknown-clip"
        case unknownChannel = "unknown-channel"
        case channelInUse = "channel-in-use"
        case userNotBound = "user-not-bound"
        case keyOfFormerUser = "key-of-former-user"
        case keyNotSignedIn = "key-not-signed-in"
        case tokenInUse = "token-in-use"
        case unknownPause = "unknown-pause"
        case unknownType = "unknown-type"
        case unknownTimeline = "unknown-timeline"
        case unknownDeadLetter = "unknown-dead-letter"
        case preconditionFailed = "precondition-failed"
        case invalidField = "invalid-field"
        case payloadTooLarge = "payload-too-large"
        case stateInvalid = "state-invalid"
        case idempotencyKeyReused = "idempotency-key-reused"
        case idempotencyKeyRunning = "idempotency-key-running"
        case labRefused = "lab-refused"
        case notOffered = "not-offered"
        case actionExpired = "action-expired"
        case limitReached = "limit-reached"
        case overloaded = "overloaded"
        case logFull = "log-full"
        case logSilent = "log-silent"
        case logUnavailable = "log-unavailable"
        case stopping = "stopping"
    }

    package var code: Code
    /// What is wrong and what to do, as text for people.
    package var detail: String
    package var errors: [FieldError] = []
    /// The activity's version, if it exists.
    package var version: Int64?
    /// For `payloadTooLarge`: number of bytes above the limit.
    package var bytesOver: Int?
    /// After this time a retry may succeed; nil if the time is unknown.
    package var retryAfter: Span?

    package init(
        _ code: Code, _ detail: String, errors: [FieldError] = [], version: Int64? = nil,
        bytesOver: Int? = nil
    ) {
        self.code = code
        self.detail = detail
        self.errors = errors
        self.version = version
        self.bytesOver = bytesOver
    }

    /// A refusal because a configured limit is reached; `limit` is the limit's name in the
    /// configuration.
    static func full(_ what: String, _ limit: String, _ remedy: String) -> Refusal {
        Refusal(.limitReached, "\(what); \(remedy), or raise limits.\(limit) in the configuration")
    }
}
