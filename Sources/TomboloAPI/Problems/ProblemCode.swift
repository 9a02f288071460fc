/// All reasons for refusals. The raw value is `code` in a problem and the end of its `type`.
/// `ProblemPage` explains each code. Codes may be added, never renamed: scripts compare them.
package enum ProblemCode: String, Hashable, Sendable, CaseIterable {
    // Problems of the request itself.
    case invalidJSON = "invalid-json"
    case invalidHeader = "invalid-header"
    case invalidQuery = "invalid-query"
    case malformedRequest = "malformed-request"
    case unknownRoute = "unknown-route"
    case methodNotAllowed = "method-not-allowed"
    case requestTimeout = "request-timeout"
    case bodyTooLarge = "body-too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case clientClosedRequest = "client-closed-request"

    // Problems of the key.
    case unauthorized
    case forbidden
    case userNotBound = "user-not-bound"
    case keyOfFormerUser = "key-of-former-user"
    case keyNotSignedIn = "key-not-signed-in"

    // Problems of the requested object.
    case unknownActivity = "unknown-activity"
    case unknownDevice = "unknown-device"
    case unknownApp = "unknown-app"
    case unknownClip = "unknown-clip"
    case unknownChannel = "unknown-channel"
    case unknownEvent = "unknown-event"
    case cursorOfAnotherLog = "cursor-of-another-log"
    case positionAheadOfLog = "position-ahead-of-log"
    case unknownKey = "unknown-key"
    case unknownPause = "unknown-pause"
    case unknownType = "unknown-type"
    case unknownTimeline = "unknown-timeline"
    case unknownDeadLetter = "unknown-dead-letter"
    case unknownDelivery = "unknown-delivery"
    case notADeadLetter = "not-a-dead-letter"
    case nothingToSendTo = "nothing-to-send-to"
    case unknownProblem = "unknown-problem"
    case activityRunning = "activity-running"
    case activityEnded = "activity-ended"
    case activityDamaged = "activity-damaged"
    case channelInUse = "channel-in-use"
    case tokenInUse = "token-in-use"
    case ownKey = "own-key"
    case keyNotRotated = "key-not-rotated"
    case preconditionFailed = "precondition-failed"
    case invalidField = "invalid-field"
    case payloadTooLarge = "payload-too-large"
    case stateInvalid = "state-invalid"
    case labRefused = "lab-refused"
    case notOffered = "not-offered"
    case actionExpired = "action-expired"
    case batchPartlyThere = "batch-partly-there"
    case idempotencyKeyReused = "idempotency-key-reused"
    case idempotencyKeyRunning = "idempotency-key-running"

    // Problems of Apple.
    case apnsRefused = "apns-refused"
    case apnsUnreachable = "apns-unreachable"

    // Problems of the relay itself.
    case limitReached = "limit-reached"
    case overloaded
    case logFull = "log-full"
    case logSilent = "log-silent"
    case logUnavailable = "log-unavailable"
    case waiting
    case stopping
    case notReady = "not-ready"
    case logUnreadable = "log-unreadable"
    case eventDamaged = "event-damaged"
    case internalError = "internal-error"
}
