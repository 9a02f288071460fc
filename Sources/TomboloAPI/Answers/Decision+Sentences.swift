package import TomboloCore

/// The meaning of each reason of a decision, as a sentence: `reason_text` in answers.
/// `Protocol/schemas/decision.json` and `Protocol/README.md` have the same sentences, as tests
/// check.
extension Decision {
    /// The sentence for the reason; nil if there is no reason, or if it is Apple's own reason.
    package var reasonText: String? {
        switch self {
        case .deferred(_, let reason): reason.sentence
        case .skipped(let skip): skip.sentence
        case .sent(true): Self.reserveSentence
        case .sending, .sent, .merged, .expired, .refused: nil
        }
    }

    /// The same, with the cause of a closed upstream if it is known.
    func reasonText(closedBy trouble: String?) -> String? {
        if case .deferred(_, .upstreamClosed) = self { return WaitReason.closed(by: trouble) }
        return reasonText
    }

    private static let reserveSentence =
        "It went at priority 5, although its urgency is high: what is left at 10 is kept for "
        + "alerts (`reserve` of the class)."
}

extension DestinationView {
    /// Why a change waits at this destination, with Apple's answer if it is the cause. Nil if no
    /// change waits.
    package var waitingText: String? {
        guard case .deferred(_, let reason)? = waiting else { return nil }
        if reason == .updateToken, phase == "waiting" {
            return
                "No card is there: the relay pushes no start (`adopt`), so the app begins one and "
                + "registers its token. Widgets and controls do not wait for it."
        }
        if [.startToken, .updateToken, .stranded].contains(reason), let refusedText {
            return refusedText
        }
        if reason == .upstreamClosed { return WaitReason.closed(by: trouble) }
        if reason == .streamLimit, let silence {
            let span = Span.seconds(silence.nanoseconds / 1_000_000_000)
            return "\(reason.sentence) Apple has answered nothing for \(span.roundedText)."
        }
        guard reason.isOfAnswer, let answer = lastDelivery?.result?.failure else {
            return reason.sentence
        }
        return "\(reason.sentence) Its answer: \(answer)."
    }

    /// Says that Apple refused the destination's token, and how to fix this; nil if it did not.
    package var refusedText: String? {
        token.flatMap { token in
            token.isRefused ? token.refused.map { "\($0). \(token.cure)" } : nil
        }
    }
}

extension PushResult {
    /// Apple's refusal, or why there is no answer; nil if Apple accepted the push.
    fileprivate var failure: String? {
        switch self {
        case .accepted: nil
        case .rejected(let status, let reason, _, _): "\(status) \(reason)"
        case .notSent(let reason), .unknown(let reason): "none (\(reason))"
        }
    }
}

extension WaitReason {
    /// True if Apple's answer to the last push, or its absence, is the reason for waiting.
    fileprivate var isOfAnswer: Bool {
        switch self {
        case .tokenBackOff, .appleError, .noAnswer, .tokenDoubted: true
        default: false
        }
    }

    /// The sentence of a closed upstream, with its cause if it is known.
    fileprivate static func closed(by trouble: String?) -> String {
        trouble.map { "The pushes of this app wait: \($0)." } ?? closedSentence
    }

    private static let closedSentence =
        "The pushes of this app wait: Apple refuses its key or its topic, is unwell, does not "
        + "answer, or cannot be reached."
    private static let nextSecondSentence =
        "A push's timestamp is a whole second, above the one before: the next second is "
        + "waited for."

    /// The first sentence of `sentence`. The others apply only to a change that still waits.
    package var cause: String { "\(sentence.prefix { $0 != "." })." }

    /// Why a change waits.
    package var sentence: String {
        switch self {
        case .spacing:
            "The last push to this card was a moment ago; its class asks for more time "
                + "between two."
        case .lowPrioritySpacing:
            "The last push of priority 5 was a moment ago; its class asks for more time "
                + "between two."
        case .bucket: "The card's budget is spent. It grows again with time."
        case .inFlight: "A push to this card is on its way. The next one goes after Apple's answer."
        case .streamLimit:
            "All streams of the connection to Apple are in use. The push takes the next "
                + "free one."
        case .reserving:
            "The relay writes to its log what the push will cost, and sends it then: a "
                + "matter of milliseconds."
        case .startToken:
            "The phone has no push-to-start token for this type. The app registers it at "
                + "its launch."
        case .updateToken:
            "The card has no update token yet. The app registers it after the start, on "
                + "some phones once the user has tapped Allow."
        case .unknownStart:
            "Apple did not answer the start, so nobody knows whether the card is there. "
                + "The relay waits for a sign of it."
        case .tokenBackOff:
            "Apple asked for fewer pushes to this token (429). The relay tries again "
                + "later."
        case .upstreamClosed: Self.closedSentence
        case .timestampAhead:
            "The machine's clock was behind the last push's timestamp. Relays of before "
                + "waited for it; this one does not."
        case .nextSecond: Self.nextSecondSentence
        case .paused: "An operator has paused these pushes. After `resume` the newest state goes."
        case .deviceSpacing:
            "The last push to this phone was a moment ago; its class asks for more time "
                + "between two, of all its cards."
        case .deviceLowPrioritySpacing:
            "The last push of priority 5 to this phone was a moment ago; its class asks "
                + "for more time between two, of all its cards."
        case .deviceBucket:
            "The phone's budget, which all its cards share, is spent. It grows again with "
                + "time."
        case .startBudget: "The phone's budget of starts is spent. It grows again with time."
        case .stranded:
            "The card was renewed, and the app has not registered the new card's update "
                + "token."
        case .channel: "The activity's broadcast channel is not there yet."
        case .appleError:
            "Apple answered the last push with an error of its own (5xx), or something "
                + "else answers in its place. The relay tries again later."
        case .noAnswer:
            "Apple did not answer the last push, and it may have arrived. The relay sends "
                + "the newest state again later."
        case .tokenDoubted:
            "Apple called the token dead (410), but since a moment before the app "
                + "registered it. The relay tries it again later."
        }
    }
}

extension Skip {
    /// Why a change was never sent.
    package var sentence: String {
        switch self {
        case .unchanged: "The phone has this state already."
        case .superseded:
            "A later `state_version` came first. The log keeps this one; no phone shows "
                + "it."
        case .annihilated:
            "The activity ended before its start was sent: there is no card to change."
        case .noRoute:
            "The card cannot be reached: it is gone, or the app has not registered its "
                + "token."
        case .slowed:
            "The clip has more frames than the budget allows, and this is one of those "
                + "left out."
        case .hidden:
            "The app was in front, and the frames show only while it is not "
                + "(`show_when`)."
        case .paused: "An operator had paused these pushes."
        case .notVisible:
            "It changes nothing that the phone shows (`significant` and `round` of the type)."
        case .startWait:
            "The card's start waited longer than `start_wait` allows, and is not tried any more. "
                + "A new card begins once the activity has ended and starts again."
        }
    }
}

extension EventDecision {
    /// Why a change was never sent to a destination; nil without a reason, or if it is Apple's.
    package var reasonText: String? {
        switch self {
        case .unchanged: Skip.unchanged.sentence
        case .superseded: Skip.superseded.sentence
        case .annihilated: Skip.annihilated.sentence
        case .noRoute: Skip.noRoute.sentence
        case .notVisible: Skip.notVisible.sentence
        case .startWait: Skip.startWait.sentence
        case .onChannel: "The card listens on a channel; the push to the channel reaches it."
        case .sent, .merged, .expired, .refused: nil
        }
    }
}
