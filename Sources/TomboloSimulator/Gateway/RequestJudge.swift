import TomboloJSON

/// Apple's gateway as a pure state machine: it takes a request and returns an answer.
///
/// It implements Apple's public pages on its own and shares no code with the sender. Apple does not
/// document the order of its checks. The order here is: headers, method, path, provider token,
/// topic and the other headers, device token, payload, rate. The order shows only in requests with
/// several errors.
///
/// It does not deliver: the caller passes an accepted push to the phones.
package struct RequestJudge: Sendable {
    package var rules: GatewayRules
    /// The device tokens that Apple knows.
    package var tokens = DeviceTokenRegistry()
    /// All broadcast channels.
    package var channels = ChannelRegistry()
    /// Provider tokens whose signature is verified, so that each is verified only once.
    private var verified: [String: ProviderToken] = [:]

    /// Maximum number of such tokens; a sender needs one or two.
    private static let verifiedTokensMax = 256

    package init(rules: GatewayRules) {
        self.rules = rules
    }

    /// Checks one request and returns the gateway's answer.
    ///
    /// - Parameters:
    ///   - freshID: returns a canonical lower-case UUID, for `apns-id` if the request has none, and
    ///     for `apns-unique-id`.
    package mutating func judge(
        _ request: PushRequest, on connection: inout GatewayConnection, at now: WallInstant,
        freshID: () -> String
    ) -> GatewayAnswer {
        let givenID = request.value("apns-id")
        let apnsID: String
        if let givenID, Self.isCanonicalUUID(givenID) {
            apnsID = givenID
        } else {
            apnsID = freshID()
        }
        do throws(Refusal) {
            if givenID != nil, givenID != apnsID { throw Refusal(.badMessageID) }
            let push = try examine(request, id: apnsID, on: &connection, at: now)
            connection.hasAcceptedRequest = true
            let uniqueID = rules.environment == .sandbox ? freshID() : nil
            return GatewayAnswer(apnsID: apnsID, uniqueID: uniqueID, result: .success(push))
        } catch {
            return GatewayAnswer(apnsID: apnsID, uniqueID: nil, result: .failure(error))
        }
    }

    private mutating func examine(
        _ request: PushRequest, id: String, on connection: inout GatewayConnection,
        at now: WallInstant
    ) throws(Refusal) -> AcceptedPush {
        try checkRepetitions(request)
        guard request.method == "POST" else { throw Refusal(.methodNotAllowed) }
        let token = try deviceToken(inPath: request.path)
        let key = try authorize(request, on: &connection, at: now)
        let topic = try topic(of: request, key: key)
        let collapseID = try collapseID(of: request)
        let type = try pushType(of: request, topic: topic)
        let priority = try priority(of: request, type: type)
        let expiration = try expiration(of: request)
        try checkDeviceToken(token, topic: topic)
        let payload = try payload(of: request, type: type)
        if !rules.acceptsAnyToken, !tokens.takeRequest(of: token, at: now) {
            throw Refusal(.tooManyRequests)
        }
        var push = AcceptedPush(
            apnsID: id, token: token, topic: topic, type: type, priority: priority,
            expiration: expiration, collapseID: collapseID, payload: request.body, acceptedAt: now)
        if type == .liveActivity, let channel = payload.root["aps"]?["input-push-channel"]?.string {
            push.startsOnUnknownChannel = channels[channel, of: topic.bundleID] == nil
        }
        return push
    }

    // MARK: - Provider token

    mutating func authorize(
        _ request: PushRequest, on connection: inout GatewayConnection, at now: WallInstant
    ) throws(Refusal) -> ProviderKey {
        if connection.isWedged { throw Refusal(.expiredProviderToken) }
        let text = try Self.bearerToken(request.value("authorization"))
        let (token, key) = try verifiedToken(text)
        let age = now - WallInstant(seconds: token.issuedAt)
        guard age <= GatewayRules.providerTokenAgeMax,
            age >= .zero - GatewayRules.providerTokenAgeMax
        else {
            connection.isWedged = rules.expiredTokenWedgesConnection
            throw Refusal(.expiredProviderToken)
        }
        if let environment = key.environment, environment != rules.environment {
            throw Refusal(.badEnvironmentKeyIDInToken)
        }
        if let first = connection.keyID, first != token.keyID {
            throw Refusal(.unrelatedKeyIDInToken)
        }
        try noteProviderToken(text, on: &connection, at: now)
        connection.keyID = token.keyID
        return key
    }

    private static func bearerToken(_ authorization: String?) throws(Refusal) -> String {
        guard let authorization else { throw Refusal(.missingProviderToken) }
        let parts = authorization.split(separator: " ")
        guard let scheme = parts.first, scheme.lowercased() == "bearer", parts.count > 1 else {
            throw Refusal(.missingProviderToken)
        }
        guard parts.count == 2 else { throw Refusal(.invalidProviderToken) }
        return String(parts[1])
    }

    private mutating func verifiedToken(
        _ text: String
    ) throws(Refusal) -> (ProviderToken, ProviderKey) {
        let known = verified[text]
        guard let token = known ?? ProviderToken(text),
            let key = rules.keys.first(where: { $0.keyID == token.keyID }),
            key.teamID == token.teamID, known != nil || token.isSigned(by: key.publicKey)
        else { throw Refusal(.invalidProviderToken) }
        if known == nil {
            if verified.count >= Self.verifiedTokensMax { verified.removeAll() }
            verified[text] = token
        }
        return (token, key)
    }

    /// Apple: "APNs report an error if you use a new token more than once every 20 minutes on the
    /// same connection". The first token of a connection does not count as a change.
    private func noteProviderToken(
        _ text: String, on connection: inout GatewayConnection, at now: WallInstant
    ) throws(Refusal) {
        guard let current = connection.providerToken else {
            connection.providerToken = text
            return
        }
        guard current != text else { return }
        if let changedAt = connection.changedAt,
            now - changedAt < GatewayRules.providerTokenChangeSpacing
        {
            throw Refusal(.tooManyProviderTokenUpdates)
        }
        connection.providerToken = text
        connection.changedAt = now
    }
}
