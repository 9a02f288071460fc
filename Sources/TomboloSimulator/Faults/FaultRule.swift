/// One thing that goes wrong at Apple: for which pushes, when, how often, and how.
///
/// A fault stands behind the judge: what is wrong with a request is refused for what it is, and
/// only a push that would have been accepted meets a fault.
package struct FaultRule: Hashable, Sendable {
    /// An answer that Apple's service might give, whatever the push.
    package struct Answer: Hashable, Sendable {
        package var status: Int
        package var reason: String
        /// Only with 410: how long ago the token was lost, told in the answer.
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

    /// What happens to a push that the rule takes; both parts may be there.
    package enum Outcome: Hashable, Sendable {
        /// Nothing but the delay, the GOAWAY or the stream limit.
        case none
        case answer(Answer)
        case silence(Silence)
    }

    /// Shown where rules are listed; for people.
    package var name = ""

    // For which pushes: all that are given have to hold.

    /// What is sent to Apple.
    package enum Target: String, CaseIterable, Hashable, Sendable {
        /// A push to one device.
        case device
        /// A push to a channel.
        case broadcast
        /// The making, reading, listing or deleting of channels.
        case channels
    }

    /// nil: anything.
    package var target: Target? = .device
    /// The device token begins so (lower-case hex).
    package var tokenPrefix = ""
    /// `apns-push-type`, as sent.
    package var pushType: String?
    /// `apns-priority`, as accepted.
    package var priority: Int?
    /// Of the pushes that match otherwise, this part.
    package var share = 1.0
    /// The first so many that match; nil: without end.
    package var times: Int?

    // When, counted from the moment at which the rule was given.

    package var from = Duration.zero
    /// nil: for good.
    package var lasts: Duration?
    /// The window comes back this often: a storm every so often.
    package var every: Duration?

    // How.

    package var outcome = Outcome.none
    package var delay = Duration.zero
    /// Whether the phone gets the push all the same, where its sender does not hear 200: an
    /// outcome that nobody knows may be either.
    package var isDelivered = false
    /// GOAWAY with this `reason`; what is open is still answered. Empty: without a reason.
    package var goAway: String?
    /// While the window is open every connection may have at most so many streams.
    package var streamsMax: Int?

    package init() {}

    /// Whether its window is open.
    func isOpen(at now: WallInstant, since given: WallInstant) -> Bool {
        guard now >= given + from else { return false }
        guard let lasts else { return true }
        return phase(at: now, since: given) < lasts
    }

    /// The next moment at which the window opens or closes; nil: never again.
    func nextEdge(after now: WallInstant, since given: WallInstant) -> WallInstant? {
        guard now >= given + from else { return given + from }
        guard let lasts else { return nil }
        let phase = phase(at: now, since: given)
        if phase < lasts { return now + (lasts - phase) }
        return every.map { now + ($0 - phase) }
    }

    /// How long ago the newest window opened.
    private func phase(at now: WallInstant, since given: WallInstant) -> Duration {
        let age = now - (given + from)
        guard let every, every > .zero else { return age }
        return age - every * Int(age / every)
    }

    /// Whether it is about this request; share, times and window are the script's affair.
    func concerns(_ request: FaultedRequest) -> Bool {
        target ?? request.target == request.target && request.token.hasPrefix(tokenPrefix)
            && pushType ?? request.pushType == request.pushType
            && priority ?? request.priority == request.priority
    }

    /// Whether a push that it takes notices anything; else it only limits streams.
    var touchesPushes: Bool {
        outcome != .none || delay > .zero || goAway != nil
    }
}

/// A request that would be answered well, as far as rules look at it.
struct FaultedRequest {
    var target: FaultRule.Target
    var token = ""
    var pushType = PushType.liveActivity.rawValue
    /// 0 where it has none.
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
