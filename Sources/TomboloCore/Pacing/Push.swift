/// Names an upstream: one app in one environment, with a shared provider token and connections.
package struct UpstreamNumber: Hashable, Comparable, Sendable {
    package let rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
    package static func < (one: UpstreamNumber, other: UpstreamNumber) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// One complete push: the sender decides nothing.
package struct Push: Hashable, Sendable {
    /// `event` of the payload.
    package enum Event: UInt8, Hashable, Sendable {
        case start, update, end

        /// The name in the payload.
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

    /// What the push goes to.
    package enum Surface: UInt8, Hashable, Sendable {
        /// A card: push type `liveactivity`, to a device token.
        case activity
        /// The cards that listen on a broadcast channel.
        case channel
        /// An app's widgets: push type `widgets` (systems 26 and later).
        case widgets
        /// A control: push type `controls` (iOS 18 and later).
        case control
        /// The app itself, woken briefly: push type `background`.
        case background
    }

    package var id: PushID
    package var upstream: UpstreamNumber
    package var event: Event
    package var surface = Surface.activity
    /// Lower-case hex of the device token, as in `:path`; for a channel its id in base64.
    package var token: String
    /// `apns-id`: a canonical lower-case UUID.
    package var apnsID: String
    /// `apns-priority`: 5 or 10.
    package var priority: UInt8
    /// `apns-expiration`: Unix seconds; 0 means one attempt, not stored.
    package var expiration: Int64
    /// `apns-collapse-id`, at most 64 bytes; starts have one.
    package var collapseID: String?
    package var payload: [UInt8]
    /// Wall time of the newest change in the push; nil for a clip's frame and for surfaces.
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

/// What an answer from Apple affects.
package enum BlastRadius: UInt8, Hashable, Sendable {
    /// This push alone: a dead letter.
    case push
    /// This push, which is sent again after a back-off of its token.
    case tokenBackOff
    /// The token is gone (`tokenGoneSince`, if given, is compared with its registration time).
    case tokenGone
    /// The token is set aside: it belongs to the other environment or another topic.
    case tokenMisplaced
    /// Like `push`, because of the topic. If it comes from phone after phone, the app is at fault.
    case topic
    /// The provider token or key: everything signed with it.
    case providerToken
    /// The connection.
    case connection
    /// The upstream: Apple has trouble (5xx).
    case upstream
}

/// The result of one push. *Rejected*: never sent again unchanged. *Not sent*: may be sent again at
/// once. *Unknown*: may have reached the phone, so the current state is sent, without its alert.
package enum PushResult: Hashable, Sendable {
    case accepted
    case rejected(status: Int, reason: String, reaches: BlastRadius, tokenGoneSince: Instant?)
    case notSent(reason: String)
    case unknown(reason: String)
}

/// The one answer to a push.
package struct PushOutcome: Hashable, Sendable {
    package var push: PushID
    package var result: PushResult
    /// From hand-over to answer.
    package var took: Span

    package init(push: PushID, result: PushResult, took: Span) {
        self.push = push
        self.result = result
        self.took = took
    }
}
