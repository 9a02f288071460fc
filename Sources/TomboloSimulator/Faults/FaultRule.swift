/// One simulated fault of Apple's service: for which pushes, when, how often, and how.
///
/// Faults apply after `RequestJudge`: a bad request is refused for its own error. A fault applies
/// only to a request that would have succeeded.
package struct FaultRule: Hashable, Sendable {
    /// An answer that Apple's service may give to any push.
    package struct Answer: Hashable, Sendable {
        package var status: Int
        package var reason: String
        /// For 410 only: how long ago the token became invalid.
        package var goneFor: Duration
    }

    /// How a request ends without an answer.
    package enum Silence: Hashable, Sendable {
        /// The stream stays open until its sender gives up.
        case noAnswer
        /// RST_STREAM with this code (RFC 9113, 7).
        case reset(code: UInt32)
        /// The connection is cut.
        case abort
    }

    /// What happens to a request to which the rule applies.
    package enum Outcome: Hashable, Sendable {
        /// Only the delay, the GOAWAY or the stream limit applies.
        case none
        case answer(Answer)
        case silence(Silence)
    }

    /// Name for people, shown in lists of rules.
    package var name = ""

    // Conditions. A request must meet all that are given.

    /// The kind of request to Apple.
    package enum Target: String, CaseIterable, Hashable, Sendable {
        /// A push to one device.
        case device
        /// A push to a channel.
        case broadcast
        /// Creating, reading, listing or deleting channels.
        case channels
    }

    /// The kind of request to which the rule applies; nil means any.
    package var target: Target? = .device
    /// Prefix of the device token (lower-case hex).
    package var tokenPrefix = ""
    /// Value of `apns-push-type` as sent; nil means any.
    package var pushType: String?
    /// Value of `apns-priority` as accepted; nil means any.
    package var priority: Int?
    /// Fraction of the matching pushes to which the rule applies, chosen at random.
    package var share = 1.0
    /// The rule applies to at most this many pushes; nil means no limit.
    package var times: Int?

    // Start of the rule's window, as time after the rule was added.

    package var from = Duration.zero
    /// Length of the window; nil means for ever.
    package var lasts: Duration?
    /// The window repeats after this time; nil means that it does not repeat.
    package var every: Duration?

    // Effects.

    package var outcome = Outcome.none
    package var delay = Duration.zero
    /// True if the phone gets the push although the sender gets no 200. Such a push has an unknown
    /// outcome: it may or may not have been delivered.
    package var isDelivered = false
    /// Sends GOAWAY with this `reason` (empty: without a reason); open requests are still answered.
    /// Nil means no GOAWAY.
    package var goAway: String?
    /// Maximum number of streams on each connection while the window is open.
    package var streamsMax: Int?

    package init() {}

    /// True if the rule's window is open.
    func isOpen(at now: WallInstant, since given: WallInstant) -> Bool {
        guard now >= given + from else { return false }
        guard let lasts else { return true }
        return phase(at: now, since: given) < lasts
    }

    /// The next time at which the window opens or closes; nil if it never does.
    func nextEdge(after now: WallInstant, since given: WallInstant) -> WallInstant? {
        guard now >= given + from else { return given + from }
        guard let lasts else { return nil }
        let phase = phase(at: now, since: given)
        if phase < lasts { return now + (lasts - phase) }
        return every.map { now + ($0 - phase) }
    }

    /// Time since the latest window opened.
    private func phase(at now: WallInstant, since given: WallInstant) -> Duration {
        let age = now - (given + from)
        guard let every, every > .zero else { return age }
        return age - every * Int(age / every)
    }

    /// True if the rule's conditions match the request. `FaultScript` checks the rest.
    func concerns(_ request: FaultedRequest) -> Bool {
        target ?? request.target == request.target && request.token.hasPrefix(tokenPrefix)
            && pushType ?? request.pushType == request.pushType
            && priority ?? request.priority == request.priority
    }

    /// True if the rule affects pushes; false if it only limits streams.
    var touchesPushes: Bool {
        outcome != .none || delay > .zero || goAway != nil
    }
}

/// The properties of a successful request that rules compare.
struct FaultedRequest {
    var target: FaultRule.Target
    var token = ""
    var pushType = PushType.liveActivity.rawValue
    /// 0 if the request has no priority.
    var priority = 0

    init(_ target: FaultRule.Target) { self.target = target }

    init(_ push: AcceptedPush) {
        self.init(.device)
        token = push.token
        pushType = push.type.rawValue
        priority = push.priority
    }

    init(_ answer: ChannelAnswer) {
        self.init(answer.broadcast == nil ? .channels : .broadcast)
        priority = answer.broadcast?.priority ?? 0
    }
}
