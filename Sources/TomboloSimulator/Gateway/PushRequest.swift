/// A request to the gateway exactly as received.
package struct PushRequest: Sendable {
    package var method: String
    /// `:path`, with its query if it has one.
    package var path: String
    /// All headers in order, including repetitions, without pseudo-headers. Names are lower case.
    package var fields: [(name: String, value: String)]
    package var body: [UInt8]

    /// The first value of a header.
    func value(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

/// One of Apple's two environments. Tokens, keys and channels of one are invalid in the other.
package enum PushEnvironment: String, Hashable, Sendable {
    case sandbox, production
}

/// How long the gateway keeps a push for a phone that cannot be reached (`apns-expiration`).
package enum PushExpiration: Hashable, Sendable {
    /// `0`: one attempt; the push is not kept.
    case immediate
    /// The push is kept until this time, in Unix seconds.
    case until(Int64)
    /// There is no header: Apple keeps the push for up to 30 days.
    case absent

    /// True if a kept push with this expiration may still be delivered.
    package func isStorable(at now: WallInstant, acceptedAt: WallInstant) -> Bool {
        switch self {
        case .immediate: false
        case .until(let second): WallInstant(seconds: second) > now
        case .absent: now - acceptedAt < .seconds(30 * 86_400)
        }
    }
}

/// A push that the gateway accepted. Apple reports nothing about it afterwards.
package struct AcceptedPush: Hashable, Sendable {
    package var apnsID: String
    /// Lower-case hex.
    package var token: String
    package var topic: PushTopic
    package var type: PushType
    package var priority: Int
    package var expiration: PushExpiration
    package var collapseID: String?
    package var payload: [UInt8]
    package var acceptedAt: WallInstant
    /// True if the push starts an activity on a channel that does not exist.
    package var startsOnUnknownChannel = false

    package init(
        apnsID: String, token: String, topic: PushTopic, type: PushType, priority: Int,
        expiration: PushExpiration, collapseID: String?, payload: [UInt8], acceptedAt: WallInstant
    ) {
        self.apnsID = apnsID
        self.token = token
        self.topic = topic
        self.type = type
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
        self.acceptedAt = acceptedAt
    }
}

/// The gateway's answer to one request.
package struct GatewayAnswer: Sendable {
    /// The request's `apns-id` if it is a canonical UUID, else a new one. Every answer has it.
    package var apnsID: String
    /// `apns-unique-id`. Only successful answers of the sandbox have it.
    package var uniqueID: String?
    package var result: Result<AcceptedPush, Refusal>
}
