/// One entry of the delivery history at one destination: a push with Apple's answer, or versions
/// that ended without a push of their own.
///
/// It is stored as a fact. It is written with the next batch, at most
/// `CoreConfiguration.Limits.markFlush` later, or sooner if a tail follows facts; a crash may lose
/// the last ones. Frames of clips have no entries unless Apple refuses them; they are counted
/// (`FrameCounts`).
package struct DeliveryRecord: Hashable, Sendable {

    /// One push.
    package struct Attempt: Hashable, Sendable {
        package var event: Push.Event
        package var route: DeliveryView.Route
        package var apnsID: APNsID
        package var priority: UInt8
        /// Size of the payload in bytes.
        package var bytes: Int
        package var answer: Answer
        /// Time from hand-over to answer.
        package var took: Span
        /// The version of the alert in the push.
        package var alert: Int64?
        /// The purpose of the push, if it is not for a new version.
        package var purpose: Purpose?
        /// Why the push had priority 5 although its urgency is high.
        package var reserve: Reserve?

        package init(
            event: Push.Event, route: DeliveryView.Route, apnsID: APNsID, priority: UInt8,
            bytes: Int, answer: Answer, took: Span, alert: Int64? = nil, purpose: Purpose? = nil
        ) {
            self.event = event
            self.route = route
            self.apnsID = apnsID
            self.priority = priority
            self.bytes = bytes
            self.answer = answer
            self.took = took
            self.alert = alert
            self.purpose = purpose
        }
    }

    /// The purpose of a push without a new version.
    package enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// Repeats the state, because Apple's acceptance is no receipt (pacing rule 15).
        case echo
        /// Has priority 10, because a locked phone delays pushes of priority 5 (pacing rule 7).
        case settle
        /// Repeats the state with a later second as its timestamp (pacing rule 2).
        case trailing
        /// A frame of a clip.
        case frame
    }

    /// Apple's answer.
    package enum Answer: Hashable, Sendable {
        case accepted
        case refused(status: Int, reason: String)
        /// The push certainly did not reach Apple.
        case notSent(reason: String)
        /// The push may have reached the phone.
        case unknown(reason: String)
    }

    package var recipient: Recipient
    /// The newest version in this entry.
    package var version: Int64
    /// The first of the versions up to `version` that this entry decides; nil if it decides none:
    /// the push for an alert, a repetition, or a retry.
    package var decidedFrom: Int64?
    /// The decision about `version`; nil if nothing was decided.
    package var decision: EventDecision?
    /// True if later versions end in the same way, without entries, until another entry of the
    /// destination: it has no card, or its card listens on a channel.
    package var goesOn = false
    /// The decided versions that a newer `state_version` had overtaken.
    package var superseded: [Int64] = []
    package var attempt: Attempt?
    /// Time from when the change could have been sent until it was sent or decided.
    package var waited = Span.zero
    /// The wait reasons in that time.
    package var held: [HoldSpan] = []
    /// The trace of its newest event that has one.
    package var trace: TraceID?

    /// An entry that has not decided anything yet.
    package init(recipient: Recipient, version: Int64, attempt: Attempt? = nil) {
        self.recipient = recipient
        self.version = version
        self.attempt = attempt
    }

    /// The versions that this entry decides.
    package var decided: ClosedRange<Int64>? {
        decidedFrom.flatMap { $0 <= version ? $0...version : nil }
    }

    /// The decision about one version; nil if this entry does not decide it.
    package func decision(of version: Int64) -> EventDecision? {
        guard let decision, let decided, decided.contains(version) else { return nil }
        if superseded.contains(version) {
            let isOwn = version == self.version && !decision.isForAll && !decision.needsNoPush
            return isOwn ? decision : .superseded
        }
        return version == self.version || decision.isForAll ? decision : .merged
    }

    /// Finds the decision about a version at a destination in all its entries, oldest first: the
    /// last entry that decides it, else the last one that continues to it. After a crash a version
    /// may be decided twice: the phone has the later result.
    ///
    /// - Returns: the index of the entry; nil if none decides the version.
    package static func fate(of version: Int64, in all: [DeliveryRecord]) -> Int? {
        if let own = all.lastIndex(where: { $0.decision(of: version) != nil }) { return own }
        return all.lastIndex { ($0.decided?.upperBound ?? .max) < version }
            .flatMap { all[$0].goesOn ? $0 : nil }
    }

    /// This entry's decision about a version, if the entry is its fate.
    package func fate(of version: Int64) -> EventDecision? {
        decision(of: version) ?? (goesOn && version > self.version ? decision : nil)
    }

    /// The kind of its fact: `push.` and Apple's answer or the decision.
    package var kind: String {
        switch attempt?.answer {
        case .accepted: "push.accepted"
        case .refused: "push.refused"
        case .notSent: "push.not_sent"
        case .unknown: "push.unknown"
        case nil: "push.\(decision?.action ?? "skipped")"
        }
    }

    /// The kinds of all delivery facts.
    package static let kinds: Set<String> = [
        "push.accepted", "push.refused", "push.not_sent", "push.unknown", "push.skipped",
        "push.expired", "push.merged",
    ]
}

extension DeliveryRecord.Attempt {
    init(_ flying: Destination.InFlight, _ answer: DeliveryRecord.Answer, took: Span) {
        self.init(
            event: flying.event, route: flying.route, apnsID: flying.apnsID,
            priority: flying.priority, bytes: Int(flying.bytes), answer: answer, took: took,
            alert: flying.alert)
        reserve = flying.reserve
        switch flying.wish {
        case .echo: purpose = .echo
        case .settle: purpose = .settle
        case .trailing: purpose = .trailing
        case .frame: purpose = .frame
        default: purpose = nil
        }
    }
}

extension DeliveryRecord.Answer {
    /// Converts the result of an upstream.
    init(_ result: PushResult) {
        self =
            switch result {
            case .accepted: .accepted
            case .rejected(let status, let reason, _, _): .refused(status: status, reason: reason)
            case .notSent(let reason): .notSent(reason: reason)
            case .unknown(let reason): .unknown(reason: reason)
            }
    }

    package var status: Int? {
        switch self {
        case .accepted: 200
        case .refused(let status, _): status
        case .notSent, .unknown: nil
        }
    }

    package var reason: String? {
        switch self {
        case .accepted: nil
        case .refused(_, let reason), .notSent(let reason), .unknown(let reason): reason
        }
    }

    /// The word in the API.
    package var result: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "rejected"
        case .notSent: "not_sent"
        case .unknown: "unknown"
        }
    }
}
