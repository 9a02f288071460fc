package import TomboloJSON

/// A producer's parsed command to one activity.
package struct Command: Sendable {
    package var activity: ActivityKey
    package var content: Content
    /// The bytes for the log: what the producer sent, in its shortest spelling.
    package var body: [UInt8]
    package var expectation: Expectation = .none
    /// True if a start after an end begins a new incarnation instead of being refused.
    package var restart = false
    package var idempotency: IdempotencyKey?
    /// The request's key.
    package var key = AskingKey.unknown
    /// The producer's trace; it is not sent to phones.
    package var trace: TraceID?

    package init(activity: ActivityKey, content: Content, body: [UInt8]) {
        self.activity = activity
        self.content = content
        self.body = body
    }

    /// The kind of command with its parsed fields. Indirect, because it is passed on several times
    /// on the way to the log.
    package indirect enum Content: Sendable {
        case start(Start)
        case update(Update)
        case end(End)
        case play(Clip)
        case stop(clip: String?)

        package var kind: EventKind {
            switch self {
            case .start: .start
            case .update: .update
            case .end: .end
            case .play: .play
            case .stop: .stop
            }
        }
    }

    /// A precondition on the activity (RFC 9110, section 13).
    package enum Expectation: Hashable, Sendable {
        case none
        /// `If-Match: "vN"`, or a list of tags: one of them must match.
        case versions([Int64])
        /// `If-None-Match: *`.
        case absent
    }
}

/// The recipients of an activity.
package enum Audience: Hashable, Sendable {
    case none
    case devices([Identifier])
    /// All devices of a user, including later ones.
    case user(String)
    /// All listeners on a broadcast channel.
    case channel(Identifier)
}

/// How an activity's card is started on a device.
package enum StartRoute: UInt8, Hashable, Sendable {
    /// Push-to-start, unless the device has sent an update token already.
    case unspecified
    case push
    /// The app starts the card itself and registers its update token.
    case adopt
    /// Push-to-start with a channel of the activity's own, if the device's system supports channels
    /// (iOS 18 and later).
    case channel
    /// Like `channel`, unless the device has sent an update token already.
    case auto

    /// True if a card that the app has started itself is accepted.
    var mayAdopt: Bool { self != .push && self != .channel }
}

/// What to do about a start whose outcome is unknown at its deadline.
package enum UnknownStartPolicy: UInt8, Hashable, Sendable {
    case giveUp, resend
}

/// What to do after Apple has declared an activity's update token dead.
package enum TokenGonePolicy: UInt8, Hashable, Sendable {
    /// Nothing: the user has probably swiped the card away.
    case stop
    /// Start the card again, once for each dead token.
    case restart

    static let choices: [(String, TokenGonePolicy)] = [("stop", .stop), ("restart", .restart)]
}

/// Whether a card near its 8 hours is replaced by a new one.
package enum RenewalPolicy: UInt8, Hashable, Sendable {
    case never, always

    static let choices: [(String, RenewalPolicy)] = [("never", .never), ("always", .always)]
}

/// Starts a card.
package struct Start: Sendable {
    /// The name of the app's `ActivityAttributes` type.
    package var type: String
    package var app: String?
    package var audience: Audience = .none
    package var route: StartRoute = .unspecified
    package var attributes: JSON
    package var state: JSON
    package var alert: JSON?
    package var relevance: Double?
    package var staleAfter: Span?
    package var urgency: Urgency = .normal
    package var alertTTL: Span = Alert.defaultTTL
    /// Longest wait of its push on a device; nil: the type's, else `startWaitDefault`.
    package var startWait: Span?
    /// How long after its last event the relay ends the activity; nil: the type's, else never.
    package var endAfter: Span?
    /// nil: the type's value, else `giveUp`.
    package var onUnknownStart: UnknownStartPolicy?
    /// nil: the type's value, else `stop`.
    package var onTokenGone: TokenGonePolicy?
    /// nil: the type's value, else `never`.
    package var renew: RenewalPolicy?
    /// Nil: the type's value.
    package var framesShowWhen: FramesShowWhen?
    /// The type's setting at the time of the start.
    var history: StateHistory?
    /// `digestOfBytes` of the start as sent; nil if it was sent in the shortest spelling.
    var digestAsSent: UInt64?
    /// True if the key may read devices and users, so that lints may name them.
    package var mayLearnNames = false
}

/// Changes a card.
package struct Update: Sendable {
    /// How the state changes.
    package enum Change: Sendable {
        case none
        /// A merge patch (RFC 7396).
        case merge(JSON)
        case replace(JSON)
    }

    package var change: Change
    package var alert: JSON?
    package var relevance: Double?
    package var staleAfter: Span?
    package var urgency: Urgency = .normal
    package var alertTTL: Span = Alert.defaultTTL
    /// The producer's own number. An update with an older one is logged but changes nothing.
    package var stateVersion: Int64?
    /// The type's setting at the time of the update.
    var history: StateHistory?
}

/// Ends a card.
package struct End: Sendable {
    package var change: Update.Change
    package var alert: JSON?
    package var dismissal: Dismissal = .standard
    /// The type's setting at the time of the end.
    var history: StateHistory?
}

/// When the system removes an ended card.
package enum Dismissal: Hashable, Sendable {
    /// When the system likes, at most four hours later.
    case standard
    case now
    case after(Span)
    case at(Instant)

    /// Parses `now`, `default`, `after 15m` or an RFC 3339 time.
    package init?(text: String) {
        if text == "now" {
            self = .now
        } else if text == "default" {
            self = .standard
        } else if text.hasPrefix("after "), let span = Span(text: String(text.dropFirst(6))) {
            self = .after(span)
        } else if let instant = Instant(rfc3339: text) {
            self = .at(instant)
        } else {
            return nil
        }
    }

    /// The text that `init(text:)` reads.
    package var text: String {
        switch self {
        case .now: "now"
        case .standard: "default"
        case .after(let span): "after \(span.text)"
        case .at(let instant): instant.rfc3339
        }
    }
}
