package import TomboloCrypto

/// One `.p8` key as Apple knows it: the public half, and what it may be used for.
package struct ProviderKey: Sendable {
    /// Ten characters, `kid` of the provider token.
    package var keyID: String
    /// Ten characters, `iss` of the provider token.
    package var teamID: String
    package var publicKey: P256PublicKey
    /// The one environment the key is for; nil for the older keys that serve both.
    package var environment: PushEnvironment?
    /// The bundle ids of a topic-specific key; nil for a team-scoped key.
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

/// What the gateway knows before the first request: keys, apps, and how strict it is where Apple's
/// pages leave room.
package struct GatewayRules: Sendable {
    package var environment: PushEnvironment
    package var keys: [ProviderKey]
    /// The registered apps' bundle ids, without any suffix.
    package var bundleIDs: [String]
    /// Every well-formed token is a phone, and none gets a 429: for load, not for life.
    package var acceptsAnyToken = false
    /// Whether the apps have the capability for broadcasts.
    package var broadcasts = true
    /// Senders report that a connection on which a provider token was seen to have expired answers
    /// `ExpiredProviderToken` to everything from then on. Apple's pages do not say so.
    package var expiredTokenWedgesConnection = false

    /// `iat` may be this far from the gateway's clock (Apple: "no more than one hour").
    package static let providerTokenAgeMax: Duration = .seconds(3_600)
    /// A connection may change to another provider token once in this time.
    package static let providerTokenChangeSpacing: Duration = .seconds(20 * 60)
    /// `apns-collapse-id`, in bytes of UTF-8.
    package static let collapseIDBytesMax = 64

    package init(
        environment: PushEnvironment = .sandbox, keys: [ProviderKey], bundleIDs: [String]
    ) {
        self.environment = environment
        self.keys = keys
        self.bundleIDs = bundleIDs
    }
}

/// What the gateway remembers of one connection, from its first request to its end.
package struct GatewayConnection: Sendable {
    /// The provider token last accepted here.
    var providerToken: String?
    /// When the connection last changed from one provider token to another; the first is no change.
    var changedAt: WallInstant?
    /// The key of the first push: another, unrelated one needs another connection.
    var keyID: String?
    var isWedged = false
    /// Whether a request with a valid provider token was accepted: until then Apple allows one
    /// stream.
    package internal(set) var hasAcceptedRequest = false

    package init() {}
}
