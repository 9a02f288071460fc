package import TomboloCore

/// One line of Apple's table of refusals, and what follows from it here.
///
/// Source: developer.apple.com, *Handling notification responses from APNs*, tables of status codes
/// and of error strings. The blast radius is ours.
package struct APNsReason: Hashable, Sendable {
    package let status: Int
    /// The string in the answer's `reason`.
    package let name: String
    package let reaches: BlastRadius
    /// Whether the connection that brought this answer takes no further push.
    package let retiresConnection: Bool

    private init(
        _ status: Int, _ name: String, _ reaches: BlastRadius, retiresConnection: Bool = false
    ) {
        self.status = status
        self.name = name
        self.reaches = reaches
        self.retiresConnection = retiresConnection
    }

    /// The row for an answer; nil where Apple's table has none.
    package static func row(status: Int, name: String) -> APNsReason? {
        table.first { $0.status == status && $0.name == name }
    }

    /// The names in Apple's tables, each once.
    package static let names = Array(Set(table.map(\.name))).sorted()

    /// What an answer that is in no table reaches, by its status alone.
    ///
    /// 3xx, and 2xx other than 200, come from no APNs: something else answers at the endpoint, and
    /// every push of the lane would fare alike.
    package static func unknown(status: Int) -> BlastRadius {
        switch status {
        case 401, 403: .providerToken
        case 410: .tokenGone
        case 429: .tokenBackOff
        case 400...499: .push
        default: .lane
        }
    }

    package static let table: [APNsReason] = [
        // The sender's own mistakes: the push is a dead letter.
        .init(400, "BadCollapseId", .push),
        .init(400, "BadExpirationDate", .push),
        .init(400, "BadMessageId", .push),
        .init(400, "BadPriority", .push),
        .init(400, "BadTopic", .topic),
        .init(400, "DuplicateHeaders", .push),
        .init(400, "InvalidPushType", .push),
        .init(400, "MissingDeviceToken", .push),
        .init(400, "MissingTopic", .topic),
        .init(400, "PayloadEmpty", .push),
        .init(400, "TopicDisallowed", .topic),
        .init(404, "BadPath", .push),
        .init(405, "MethodNotAllowed", .push),
        .init(413, "PayloadTooLarge", .push),

        // Often a sandbox token on the production host, or the reverse; never to be sent again.
        .init(400, "BadDeviceToken", .tokenMisplaced),
        .init(400, "DeviceTokenNotForTopic", .tokenMisplaced),
        .init(410, "ExpiredToken", .tokenGone),
        .init(410, "Unregistered", .tokenGone),
        .init(429, "TooManyRequests", .tokenBackOff),

        // The key or what was signed with it. A connection stays bound to the first token it saw.
        .init(403, "BadCertificate", .providerToken, retiresConnection: true),
        .init(403, "BadCertificateEnvironment", .providerToken, retiresConnection: true),
        .init(403, "BadEnvironmentKeyIdInToken", .providerToken, retiresConnection: true),
        // A spelling that is not on Apple's page, seen by others.
        .init(403, "BadEnvironmentKeyInToken", .providerToken, retiresConnection: true),
        .init(403, "ExpiredProviderToken", .providerToken, retiresConnection: true),
        .init(403, "Forbidden", .providerToken, retiresConnection: true),
        .init(403, "InvalidProviderToken", .providerToken, retiresConnection: true),
        .init(403, "MissingProviderToken", .providerToken, retiresConnection: true),

        // This connection's history: another one may send the same push.
        .init(400, "IdleTimeout", .connection, retiresConnection: true),
        .init(403, "UnrelatedKeyIdInToken", .connection, retiresConnection: true),
        .init(429, "TooManyProviderTokenUpdates", .connection, retiresConnection: true),

        // Of broadcasts and channels (Apple, *Handling error responses from Apple Push Notification
        // service*). A channel that is not there is to them what a dead token is to a device.
        .init(400, "BadChannelId", .tokenGone),
        .init(400, "BadRequestParams", .push),
        .init(400, "BadRequestPayload", .push),
        .init(400, "CannotCreateChannelConfig", .push),
        .init(400, "ChannelNotRegistered", .tokenGone),
        .init(400, "FeatureNotEnabled", .push),
        .init(400, "MissingChannelId", .push),
        .init(400, "MissingPushType", .push),
        .init(403, "TopicMismatch", .push),

        // Apple is unwell.
        .init(500, "InternalServerError", .lane),
        .init(503, "ServiceUnavailable", .lane),
        // As it is printed on the page of broadcasts.
        .init(503, "Service Unavailable", .lane),
        .init(503, "Shutdown", .lane, retiresConnection: true),
    ]
}
