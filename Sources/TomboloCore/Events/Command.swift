package import TomboloJSON

/// What a producer asks of one activity, parsed.
package struct Command: Sendable {
    package var activity: ActivityKey
    package var content: Content
    /// As it goes into the log: what the producer sent in its shortest spelling.
    package var body: [UInt8]
    package var expectation: Expectation = .none
    /// A start after an end begins a new incarnation instead of being refused.
    package var restart = false
    package var idempotency: IdempotencyKey?
    /// Who asks.
    package var key = AskingKey.unknown
    /// The trace that the producer is in; no phone learns it.
    package var trace: TraceID?

    package init(activity: ActivityKey, content: Content, body: [UInt8]) {
        self.activity = activity
        self.content = content
        self.body = body
    }

    /// What is asked, with its fields read. Behind a pointer: it is handed on several times on the
    /// way to the log.
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

    /// A condition of RFC 9110, section 13, on the activity as it stands.
    package enum Expectation: Hashable, Sendable {
        case none
        /// `If-Match: "vN"`, or a list of such: one of them.
        case versions([Int64])
        /// `If-None-Match: *`.
        case absent
    }
}

/// Who shows an activity.
package enum Audience: Hashable, Sendable {
    case none
    case devices([Identifier])
    /// All devices of a user, those that come later too.
    case user(String)
    /// Whoever listens on a broadcast channel.
    case channel(Identifier)
}

/// How an activity comes to be on a device.
package enum StartRoute: UInt8, Hashable, Sendable {
    /// By push-to-start, unless an update token is there already.
    case unspecified
    case push
    /// Only where the app has started it itself and registers its update token.
    case adopt
    /// By push-to-start with a channel of the activity's own, where the device's system knows
    /// channels (iOS 18 and later).
    case channel
    /// The same, unless an update token is there already.
    case auto

    /// Whether a card that its app has started itself will do.
    var mayAdopt: Bool { self != .push && self != .channel }
}

/// What becomes of a start whose outcome nobody learned by its deadline.
package enum UnknownStartPolicy: UInt8, Hashable, Sendable {
    case giveUp, resend
}

/// What becomes of an activity on a device whose update token Apple has declared dead.
package enum TokenGonePolicy: UInt8, Hashable, Sendable {
    /// It is left alone: it was often a swipe.
    case stop
    /// It is started anew, once for each token that goes.
    case restart

    static let choices: [(String, TokenGonePolicy)] = [("stop", .stop), ("restart", .restart)]
}

/// Whether a card that nears its 8 hours is followed by a new one.
package enum RenewalPolicy: UInt8, Hashable, Sendable {
    case never, always

    static let choices: [(String, RenewalPolicy)] = [("never", .never), ("always", .always)]
}

/// A card begins.
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
    /// How long its push may wait on a device; nil: the type's, else `startWaitDefault`.
    package var startWait: Span?
    /// The relay ends the activity so long after its last event; nil: as its type says, else never.
    package var endAfter: Span?
    /// nil: the type's, else `giveUp`.
    package var onUnknownStart: UnknownStartPolicy?
    /// nil: the type's, else `stop`.
    package var onTokenGone: TokenGonePolicy?
    /// nil: the type's, else `never`.
    package var renew: RenewalPolicy?
    /// Nil: as its type says.
    package var framesShowWhen: FramesShowWhen?
    /// As its type said when it was taken.
    var history: StateHistory?
    /// `digestOfBytes` of the start as it was sent; nil: its spelling is the shortest.
    var digestAsSent: UInt64?
    /// Whether the asker may read which devices and users there are: lints may name them.
    package var mayLearnNames = false
}

/// A card changes.
package struct Update: Sendable {
    /// What becomes of the state.
    package enum Change: Sendable {
        case none
        /// RFC 7396.
        case merge(JSON)
        case replace(JSON)
    }

    package var change: Change
    package var alert: JSON?
    package var relevance: Double?
    package var staleAfter: Span?
    package var urgency: Urgency = .normal
    package var alertTTL: Span = Alert.defaultTTL
    /// The producer's own number; an older one than the last is logged and superseded.
    package var stateVersion: Int64?
    /// As its type said when it was taken.
    var history: StateHistory?
}

/// A card ends.
package struct End: Sendable {
    package var change: Update.Change
    package var alert: JSON?
    package var dismissal: Dismissal = .standard
    /// As its type said when it was taken.
    var history: StateHistory?
}

/// When the system takes an ended card away.
package enum Dismissal: Hashable, Sendable {
    /// Up to four hours later, as the system likes.
    case standard
    case now
    case after(Span)
    case at(Instant)

    /// Reads `now`, `default`, `after 15m` or a time of RFC 3339.
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

    /// As `init(text:)` reads it.
    package var text: String {
        switch self {
        case .now: "now"
        case .standard: "default"
        case .after(let span): "after \(span.text)"
        case .at(let instant): instant.rfc3339
        }
    }
}
