/// One line of the delivery history: a push and Apple's answer to it, or versions that ended
/// without a push of their own, at one destination.
///
/// The log keeps it as a fact. It is written with the next batch, or at most
/// `CoreConfiguration.Limits.markFlush` later, and sooner where somebody follows facts: a crash may
/// take the last ones away. Frames of a clip have none, unless Apple refuses them; they are counted
/// (`FrameCounts`).
package struct DeliveryRecord: Hashable, Sendable {

    /// One push.
    package struct Attempt: Hashable, Sendable {
        package var event: Push.Event
        package var route: DeliveryView.Route
        package var apnsID: APNsID
        package var priority: UInt8
        /// Of the payload.
        package var bytes: Int
        package var answer: Answer
        /// From hand-over to answer.
        package var took: Span
        /// The version whose alert it carried.
        package var alert: Int64?
        /// Why it went, where it is not for a new version.
        package var purpose: Purpose?
        /// What kept priority 10 from it, although its urgency is high.
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

    /// Why a push went that brought nothing new.
    package enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// Once more, because an accepted push is no receipt (pacing rule 15).
        case echo
        /// At priority 10, because a locked phone keeps what came at 5 for later (pacing rule 7).
        case settle
        /// Once more with a second of its own (pacing rule 2).
        case trailing
        /// A frame of a clip.
        case frame
    }

    /// What Apple said.
    package enum Answer: Hashable, Sendable {
        case accepted
        case refused(status: Int, reason: String)
        /// It certainly did not reach Apple.
        case notSent(reason: String)
        /// It may have reached the phone.
        case unknown(reason: String)
    }

    package var recipient: Recipient
    /// The newest version that it is about.
    package var version: Int64
    /// The first of the versions up to `version` that got their decision with it; nil where none
    /// did: an alert's push, a repetition, a push that goes again.
    package var decidedFrom: Int64?
    /// What became of `version`; nil where nothing was decided.
    package var decision: EventDecision?
    /// What comes after `version` ends the same, without a line of its own, until another line of
    /// the destination decides it: the destination has no card, or its card listens on a channel.
    package var goesOn = false
    /// Of the versions that were decided: those that their producer had overtaken
    /// (`state_version`).
    package var superseded: [Int64] = []
    package var attempt: Attempt?
    /// From the moment at which the change could have gone until it went, or was decided.
    package var waited = Span.zero
    /// What held it meanwhile.
    package var held: [HoldSpan] = []
    /// The trace that the newest of its events came with.
    package var trace: TraceID?

    /// One that has decided nothing yet.
    package init(recipient: Recipient, version: Int64, attempt: Attempt? = nil) {
        self.recipient = recipient
        self.version = version
        self.attempt = attempt
    }

    /// The versions that got their decision with it.
    package var decided: ClosedRange<Int64>? {
        decidedFrom.flatMap { $0 <= version ? $0...version : nil }
    }

    /// What became of one version; nil where it was not decided with this.
    package func decision(of version: Int64) -> EventDecision? {
        guard let decision, let decided, decided.contains(version) else { return nil }
        if superseded.contains(version) {
            let isOwn = version == self.version && !decision.isForAll && !decision.needsNoPush
            return isOwn ? decision : .superseded
        }
        return version == self.version || decision.isForAll ? decision : .merged
    }

    /// What became of one version at a destination, by all its lines, oldest first: the last line
    /// that has it, else the last that goes on until it. After a crash a version may be decided
    /// twice: the phone had what came last.
    ///
    /// - Returns: the place of the line; nil where none decides it.
    package static func fate(of version: Int64, in all: [DeliveryRecord]) -> Int? {
        if let own = all.lastIndex(where: { $0.decision(of: version) != nil }) { return own }
        return all.lastIndex { ($0.decided?.upperBound ?? .max) < version }
            .flatMap { all[$0].goesOn ? $0 : nil }
    }

    /// What the line says of a version, where it is its fate.
    package func fate(of version: Int64) -> EventDecision? {
        decision(of: version) ?? (goesOn && version > self.version ? decision : nil)
    }

    /// The name of its fact: `push.` and Apple's answer, or `change.` and the decision.
    package var kind: String {
        switch attempt?.answer {
        case .accepted: "push.accepted"
        case .refused: "push.refused"
        case .notSent: "push.not_sent"
        case .unknown: "push.unknown"
        case nil: "push.\(decision?.action ?? "skipped")"
        }
    }

    /// The kinds of all facts that are deliveries.
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
    /// As an upstream's result says it.
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

    /// The word of the API.
    package var result: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "rejected"
        case .notSent: "not_sent"
        case .unknown: "unknown"
        }
    }
}
