package import TomboloJSON

/// A producer's parsed command to one activity.
package struct Command: Sendable {
    package var activity: ActivityKey
    package var content: Content
    /// The body for the log: what the producer sent, as the shortest JSON text.
    package var body: [UInt8]
    package var expectation: Expectation = .none
    /// For a start: true if it may begin a new incarnation after an end; else it is refused then.
    package var restart = false
    package var idempotency: IdempotencyKey?
    package var key = AskingKey.unknown
    /// The trace of the request; phones do not get it.
    package var trace: TraceID?

    package init(activity: ActivityKey, content: Content, body: [UInt8]) {
        self.activity = activity
        self.content = content
        self.body = body
    }

    /// The kind of command with its parsed members. Indirect, because large values are moved
    /// several times on the way to the log.
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
        /// `If-Match: "vN"`, or a list of tags of which one must match.
        case versions([Int64])
        /// `If-None-Match: *`.
        case absent
    }
}

/// The recipients of an activity.
package enum Audience: Hashable, Sendable {
    case none
    case devices([Identifier])
    /// All devices of a user, also those that register later.
    case user(String)
    /// All cards that listen on a broadcast channel.
    case channel(Identifier)

    /// False if it is another user than `user`.
    func includes(user: String?) -> Bool {
        guard case .user(let own) = self else { return true }
        return isSameText(own, user)
    }
}

/// How an activity's card is started on a device.
package enum StartRoute: UInt8, Hashable, Sendable {
    /// With a push, unless the app has started the card itself and has sent its update token.
    case unspecified
    case push
    /// The app starts the card itself and sends its update token.
    case adopt
    /// With a push that names a channel of the activity's own, if the device's system supports
    /// channels (iOS 18 and later).
    case channel
    /// Like `channel`, unless the app has started the card itself and has sent its update token.
    case auto

    /// True if the relay accepts a card that the app has started itself.
    var mayAdopt: Bool { self != .push && self != .channel }
}

/// What to do if Apple's answer to a start is still unknown at the deadline.
package enum UnknownStartPolicy: UInt8, Hashable, Sendable {
    case giveUp, resend
}

/// What to do after Apple has declared an activity's update token dead.
package enum TokenGonePolicy: UInt8, Hashable, Sendable {
    /// Nothing, because the user has probably dismissed the card.
    case stop
    /// Start the card again, once for each dead token.
    case restart

    static let choices: [(String, TokenGonePolicy)] = [("stop", .stop), ("restart", .restart)]
}

/// Whether a card is replaced by a new one shortly before its 8 hours are over.
package enum RenewalPolicy: UInt8, Hashable, Sendable {
    case never, always

    static let choices: [(String, RenewalPolicy)] = [("never", .never), ("always", .always)]
}

/// The members of a start, which begins an activity.
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
    /// How long the start may wait for a device; nil: the type's value, else `startWaitDefault`.
    package var startWait: Span?
    /// How long after the activity's last event the relay ends it; nil: the type's value, else
    /// never.
    package var endAfter: Span?
    /// nil: the type's value, else `giveUp`.
    package var onUnknownStart: UnknownStartPolicy?
    /// nil: the type's value, else `stop`.
    package var onTokenGone: TokenGonePolicy?
    /// nil: the type's value, else `never`.
    package var renew: RenewalPolicy?
    /// nil: the type's value, else `background`.
    package var framesShowWhen: FramesShowWhen?
    /// The type's history setting when the start was accepted.
    var history: StateHistory?
    /// `digestOfBytes` of the start as sent; nil if it was sent as the shortest JSON text already.
    var digestAsSent: UInt64?
    /// True if the request's key may read devices and users, so that lints may name them.
    package var mayLearnNames = false
}

/// The members of an update, which changes an activity.
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
    /// The producer's own number of the state. An update with a smaller number than the largest one
    /// so far is logged, but changes nothing.
    package var stateVersion: Int64?
    /// The type's history setting when the update was accepted.
    var history: StateHistory?
}

/// The members of an end.
package struct End: Sendable {
    package var change: Update.Change
    package var alert: JSON?
    package var dismissal: Dismissal = .standard
    /// The type's history setting when the end was accepted.
    var history: StateHistory?
}

/// When the system removes an ended card.
package enum Dismissal: Hashable, Sendable {
    /// When the system decides, at most four hours after the end.
    case standard
    case now
    case after(Span)
    case at(Instant)

    /// Parses `now`, `default`, `after 15m` or an RFC 3339 time. Returns nil for other texts.
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
