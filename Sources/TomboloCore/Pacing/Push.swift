/// Identifies an upstream: one app in one environment. It has its own provider token and
/// connections.
package struct UpstreamNumber: Hashable, Comparable, Sendable {
    package let rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
    package static func < (one: UpstreamNumber, other: UpstreamNumber) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// One complete push. The sender need not decide anything.
package struct Push: Hashable, Sendable {
    /// `event` of the payload.
    package enum Event: UInt8, Hashable, Sendable {
        case start, update, end

        package var name: String {
            switch self {
            case .start: "start"
            case .update: "update"
            case .end: "end"
            }
        }

        init?(name: String) {
            switch name {
            case "start": self = .start
            case "update": self = .update
            case "end": self = .end
            default: return nil
            }
        }
    }

    /// What a push is for.
    package enum Surface: UInt8, Hashable, Sendable {
        /// A card, by its device token: push type `liveactivity`.
        case activity
        /// All cards that listen on a broadcast channel.
        case channel
        /// An app's widgets: push type `widgets` (iOS 26 and later).
        case widgets
        /// A control: push type `controls` (iOS 18 and later).
        case control
        /// The app itself, which is woken for a short time: push type `background`.
        case background
    }

    package var id: PushID
    package var upstream: UpstreamNumber
    package var event: Event
    package var surface = Surface.activity
    /// The device token in lower-case hex, as in `:path`; for a channel, its id in base64.
    package var token: String
    /// `apns-id`: a canonical lower-case UUID.
    package var apnsID: String
    /// `apns-priority`: 5 or 10.
    package var priority: UInt8
    /// `apns-expiration`: Unix seconds; 0: Apple tries once and stores nothing.
    package var expiration: Int64
    /// `apns-collapse-id`, at most 64 bytes. Only starts have one.
    package var collapseID: String?
    package var payload: [UInt8]
    /// Wall time of the newest change in the push; nil for a frame, and for reloads.
    package var changedAt: Instant?

    @inlinable package init(
        id: PushID, upstream: UpstreamNumber, event: Event, token: String, apnsID: String,
        priority: UInt8, expiration: Int64, collapseID: String? = nil, payload: [UInt8]
    ) {
        self.id = id
        self.upstream = upstream
        self.event = event
        self.token = token
        self.apnsID = apnsID
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// What one of Apple's answers affects.
package enum BlastRadius: UInt8, Hashable, Sendable {
    /// Only this push, which becomes a dead letter.
    case push
    /// Only this token: the push is sent again after a while.
    case tokenBackOff
    /// The token is dead, unless it was registered after `tokenGoneSince`.
    case tokenGone
    /// The token belongs to the other environment or another app, so it is not used any more.
    case tokenMisplaced
    /// This push, because of its topic. If several devices get this answer, the app is configured
    /// wrongly.
    case topic
    /// All pushes with this provider token or key.
    case providerToken
    /// All pushes of this connection.
    case connection
    /// All pushes of the upstream, because Apple has a failure (5xx).
    case upstream
}

/// The result of a push. After `rejected` it is never sent again unchanged. After `notSent` it may
/// be sent again at once. After `unknown` it may have reached the phone, so the present state is
/// sent, without the alert.
package enum PushResult: Hashable, Sendable {
    case accepted
    case rejected(status: Int, reason: String, reaches: BlastRadius, tokenGoneSince: Instant?)
    case notSent(reason: String)
    case unknown(reason: String)
}

/// The result of a push, reported exactly once.
package struct PushOutcome: Hashable, Sendable {
    package var push: PushID
    package var result: PushResult
    /// Time from handing the push over until the answer.
    package var took: Span
    /// Wall time of the newest change in the push; nil for a frame.
    package var changedAt: Instant?

    package init(push: PushID, result: PushResult, took: Span, changedAt: Instant? = nil) {
        self.push = push
        self.result = result
        self.took = took
        self.changedAt = changedAt
    }
}
