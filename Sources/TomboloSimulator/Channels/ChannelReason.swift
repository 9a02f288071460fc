/// Why a request to the channel or broadcast API is refused. These are all reasons on Apple's page
/// *Handling error responses from Apple Push Notification service*, in Apple's spelling.
package enum ChannelReason: String, CaseIterable, Hashable, Sendable {
    case featureNotEnabled = "FeatureNotEnabled"
    case missingChannelID = "MissingChannelId"
    case badChannelID = "BadChannelId"
    case channelNotRegistered = "ChannelNotRegistered"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case payloadEmpty = "PayloadEmpty"
    case badMessageID = "BadMessageId"
    case duplicateHeaders = "DuplicateHeaders"
    case missingPushType = "MissingPushType"
    case invalidPushType = "InvalidPushType"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case badExpirationDate = "BadExpirationDate"
    case topicDisallowed = "TopicDisallowed"
    case badPriority = "BadPriority"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case topicMismatch = "TopicMismatch"
    case missingProviderToken = "MissingProviderToken"
    case expiredProviderToken = "ExpiredProviderToken"
    case invalidProviderToken = "InvalidProviderToken"
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyRequests = "TooManyRequests"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case internalServerError = "InternalServerError"
    /// Apple's page about broadcasts spells it with a space, the page about pushes without.
    case serviceUnavailable = "Service Unavailable"
    case shutdown = "Shutdown"

    /// The `:status` that Apple sends with this reason.
    package var status: Int {
        switch self {
        case .badCertificate, .badCertificateEnvironment, .topicMismatch, .missingProviderToken,
            .expiredProviderToken, .invalidProviderToken, .unrelatedKeyIDInToken,
            .badEnvironmentKeyIDInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .payloadTooLarge: 413
        case .tooManyRequests, .tooManyProviderTokenUpdates: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        default: 400
        }
    }
}

struct ChannelRefusal: Error, Hashable {
    var reason: ChannelReason

    init(_ reason: ChannelReason) { self.reason = reason }

    /// Converts a refusal of the push API. A reason that is not in this list becomes `badPath`.
    init(_ refusal: Refusal) {
        reason = ChannelReason(rawValue: refusal.reason.rawValue) ?? .badPath
    }
}
