package import TomboloCore

/// One row of Apple's table of refusals, with its consequences in this relay.
///
/// Source: developer.apple.com, *Handling notification responses from APNs*, tables of status codes
/// and of error strings. The blast radius is this project's own classification.
package struct APNsReason: Hashable, Sendable {
    package let status: Int
    /// Apple's string in the answer's `reason`.
    package let name: String
    package let reaches: BlastRadius
    /// True if the connection that brought this answer must carry no further push.
    package let retiresConnection: Bool

    private init(
        _ status: Int, _ name: String, _ reaches: BlastRadius, retiresConnection: Bool = false
    ) {
        self.status = status
        self.name = name
        self.reaches = reaches
        self.retiresConnection = retiresConnection
    }

    /// The row for an answer; nil if Apple's table has none.
    package static func row(status: Int, name: String) -> APNsReason? {
        table.first { $0.status == status && $0.name == name }
    }

    /// All names in Apple's tables, without duplicates.
    package static let names = Array(Set(table.map(\.name))).sorted()

    /// Blast radius of an answer that is in no table, from its status alone.
    ///
    /// APNs never sends 3xx, nor 2xx other than 200. Such an answer comes from another server at
    /// the endpoint, which would answer every push of the upstream like this.
    package static func unknown(status: Int) -> BlastRadius {
        switch status {
        case 401, 403: .providerToken
        case 410: .tokenGone
        case 429: .tokenBackOff
        case 400...499: .push
        default: .upstream
        }
    }

    package static let table: [APNsReason] = [
        // Mistakes of this relay: the push becomes a dead letter.
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

        // Often a sandbox token went to the production host, or vice versa. Never send to it again.
        .init(400, "BadDeviceToken", .tokenMisplaced),
        .init(400, "DeviceTokenNotForTopic", .tokenMisplaced),
        .init(410, "ExpiredToken", .tokenGone),
        .init(410, "Unregistered", .tokenGone),
        .init(429, "TooManyRequests", .tokenBackOff),

        // The key or the provider token is wrong. A connection stays bound to its first token.
        .init(403, "BadCertificate", .providerToken, retiresConnection: true),
        .init(403, "BadCertificateEnvironment", .providerToken, retiresConnection: true),
        .init(403, "BadEnvironmentKeyIdInToken", .providerToken, retiresConnection: true),
        // A spelling that is not on Apple's page, but that was observed.
        .init(403, "BadEnvironmentKeyInToken", .providerToken, retiresConnection: true),
        .init(403, "ExpiredProviderToken", .providerToken, retiresConnection: true),
        .init(403, "Forbidden", .providerToken, retiresConnection: true),
        .init(403, "InvalidProviderToken", .providerToken, retiresConnection: true),
        .init(403, "MissingProviderToken", .providerToken, retiresConnection: true),

        // These depend on what the connection carried before: another one may send the same push.
        .init(400, "IdleTimeout", .connection, retiresConnection: true),
        .init(403, "UnrelatedKeyIdInToken", .connection, retiresConnection: true),
        .init(429, "TooManyProviderTokenUpdates", .connection, retiresConnection: true),

        // Answers to broadcasts and channel requests (Apple, *Handling error responses from Apple
        // Push Notification service*). A missing channel is treated like an invalid device token.
        .init(400, "BadChannelId", .tokenGone),
        .init(400, "BadRequestParams", .push),
        .init(400, "BadRequestPayload", .push),
        .init(400, "CannotCreateChannelConfig", .push),
        .init(400, "ChannelNotRegistered", .tokenGone),
        .init(400, "FeatureNotEnabled", .push),
        .init(400, "MissingChannelId", .push),
        .init(400, "MissingPushType", .push),
        .init(403, "TopicMismatch", .push),

        // Apple's service has a fault.
        .init(500, "InternalServerError", .upstream),
        .init(503, "ServiceUnavailable", .upstream),
        // The same with the spelling on the page about broadcasts.
        .init(503, "Service Unavailable", .upstream),
        .init(503, "Shutdown", .upstream, retiresConnection: true),
    ]
}
