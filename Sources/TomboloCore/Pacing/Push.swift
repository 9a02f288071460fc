/// All pushes of one app in one environment: what shares a provider token and connections.
package struct LaneNumber: Hashable, Comparable, Sendable {
    package let rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
    package static func < (one: LaneNumber, other: LaneNumber) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// One push, complete: whoever sends it decides nothing.
package struct Push: Hashable, Sendable {
    /// `event` of the payload.
    package enum Event: UInt8, Hashable, Sendable {
        case start, update, end

        /// As the payload says it.
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

    /// What it goes to.
    package enum Surface: UInt8, Hashable, Sendable {
        /// A card: push type `liveactivity`, to a device token.
        case activity
        /// The cards that listen on a broadcast channel.
        case channel
        /// An app's widgets: push type `widgets` (systems 26 and later).
        case widgets
        /// A control: push type `controls` (iOS 18 and later).
        case control
        /// The app itself, woken for a moment: push type `background`.
        case background
    }

    package var id: PushID
    package var lane: LaneNumber
    package var event: Event
    package var surface = Surface.activity
    /// Lower-case hex of the device token, as it goes into `:path`; a channel's id in base64.
    package var token: String
    /// `apns-id`: a canonical lower-case UUID.
    package var apnsID: String
    /// `apns-priority`: 5 or 10.
    package var priority: UInt8
    /// `apns-expiration`: Unix seconds; 0 is one attempt, not stored.
    package var expiration: Int64
    /// `apns-collapse-id`, at most 64 bytes; starts carry one.
    package var collapseID: String?
    package var payload: [UInt8]
    /// Wall time of the newest change that it carries; nil for a clip's frame and for surfaces.
    package var changedAt: Instant?

    @inlinable package init(
        id: PushID, lane: LaneNumber, event: Event, token: String, apnsID: String,
        priority: UInt8, expiration: Int64, collapseID: String? = nil, payload: [UInt8]
    ) {
        self.id = id
        self.lane = lane
        self.event = event
        self.token = token
        self.apnsID = apnsID
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// How far an answer from Apple reaches.
package enum BlastRadius: UInt8, Hashable, Sendable {
    /// This push alone: a dead letter.
    case push
    /// This push once more, after a back-off of this token.
    case tokenBackOff
    /// This token is no more (compared with its registration time where `tokenGoneSince` is told).
    case tokenGone
    /// The token is set aside: it belongs to the other environment or another topic.
    case tokenMisplaced
    /// This push alone, as `push`, for its topic. Of phone after phone it is the app's.
    case topic
    /// The provider token or key: everything signed with it.
    case providerToken
    /// The connection.
    case connection
    /// The lane: Apple is unwell (5xx).
    case lane
}

/// What became of one push. *Rejected* is never sent again as it was, *not sent* may be at once,
/// *unknown* may have reached the phone: the current state goes, without its alert.
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
