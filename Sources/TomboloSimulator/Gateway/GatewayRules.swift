package import TomboloCrypto

/// One `.p8` key as Apple knows it: the public half, and its permitted uses.
package struct ProviderKey: Sendable {
    /// The `kid` of the provider token, ten characters.
    package var keyID: String
    /// The `iss` of the provider token, ten characters.
    package var teamID: String
    package var publicKey: P256PublicKey
    /// The only environment for which the key is valid; nil for an older key, valid in both.
    package var environment: PushEnvironment?
    /// The bundle ids for which a topic-specific key is valid; nil for a team-scoped key.
    package var bundleIDs: [String]?

    package init(
        keyID: String, teamID: String, publicKey: P256PublicKey,
        environment: PushEnvironment? = nil, bundleIDs: [String]? = nil
    ) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
        self.environment = environment
        self.bundleIDs = bundleIDs
    }
}

/// Configuration of the gateway: keys, apps, and choices where Apple's pages are not precise.
package struct GatewayRules: Sendable {
    package var environment: PushEnvironment = .sandbox
    package var keys: [ProviderKey]
    /// The registered apps' bundle ids, without any suffix.
    package var bundleIDs: [String]
    /// True if every well-formed token is accepted and none gets a 429: for load tests.
    package var acceptsAnyToken = false
    /// True if the apps have the broadcast capability.
    package var broadcasts = true
    /// True if a connection that once had an expired provider token answers `ExpiredProviderToken`
    /// to every later request. Senders report this; Apple's pages do not mention it.
    package var expiredTokenWedgesConnection = false

    /// Largest difference between `iat` and the gateway's clock (Apple: "no more than one hour").
    package static let providerTokenAgeMax: Duration = .seconds(3_600)
    /// A connection may change to another provider token once in this time.
    package static let providerTokenChangeSpacing: Duration = .seconds(20 * 60)
    /// Maximum length of `apns-collapse-id` in bytes of UTF-8.
    package static let collapseIDBytesMax = 64
}

/// The gateway's state of one connection.
package struct GatewayConnection: Sendable {
    /// The provider token that was last accepted on the connection.
    var providerToken: String?
    /// When the connection last changed its provider token. The first token is not a change.
    var changedAt: WallInstant?
    /// Id of the key that signed the first token here. An unrelated key needs another connection.
    var keyID: String?
    var isWedged = false
    /// True once a request with a valid provider token was accepted. Before, one stream is allowed.
    package internal(set) var hasAcceptedRequest = false

    package init() {}
}
