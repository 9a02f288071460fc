/// One entry in the delivery history of a destination: a push with Apple's answer, or versions that
/// were decided without a push.
///
/// An entry is stored as a fact with the next batch: after
/// `CoreConfiguration.Limits.checkpointFlush` at most, or sooner if a client follows the facts. A
/// crash may lose the latest entries. Frames of clips are only counted (`FrameCounts`), unless
/// Apple refuses them.
package struct DeliveryRecord: Hashable, Sendable {

    /// One attempt to send a push.
    package struct Attempt: Hashable, Sendable {
        package var event: Push.Event
        package var route: DeliveryView.Route
        package var apnsID: APNsID
        package var priority: UInt8
        /// Size of the payload in bytes.
        package var bytes: Int
        package var answer: Answer
        /// Time from handing the push to the connection until Apple's answer.
        package var took: Span
        /// The version whose alert the push contains; nil: no alert.
        package var alert: Int64?
        /// Why the push was sent, if not for a new version.
        package var purpose: Purpose?
        /// Set if the push had priority 5 despite its high urgency, to save budget.
        package var reserve: Reserve?
    }

    /// Why a push without a new version was sent.
    package enum Purpose: String, Hashable, Sendable, CaseIterable {
        /// It repeats the state, because Apple's acceptance does not prove delivery (pacing rule
        /// 15).
        case echo
        /// It repeats the state with a later stale date, because the producer repeated itself
        /// (pacing rule 1).
        case refresh
        /// It repeats the state with priority 10, because a locked phone delays priority 5 (pacing
        /// rule 7).
        case settle
        /// It repeats the state with a later second in its timestamp (pacing rule 2).
        case trailing
        /// It shows a frame of a clip.
        case frame
    }

    /// The outcome of a push.
    package enum Answer: Hashable, Sendable {
        case accepted
        case refused(status: Int, reason: String)
        /// The push certainly did not reach Apple.
        case notSent(reason: String)
        /// It is unknown whether the push reached Apple; the phone may have it.
        case unknown(reason: String)
    }

    package var recipient: Recipient
    /// The card's number, `Destination.cardNumber`. Nil in facts of older relays, which may be
    /// about any card of the recipient.
    package var card: Int64?
    /// The newest version that this entry is about.
    package var version: Int64
    /// The oldest version that this entry decides; it decides all from this one to `version`. Nil
    /// if it decides none, because the push was for an alert, a repetition or a retry.
    package var decidedFrom: Int64?
    /// The decision about `version`; nil if this entry decides nothing.
    package var decision: EventDecision?
    /// True if the decision also holds for later versions, up to the destination's next entry: it
    /// has no card, or its card listens on a channel.
    package var goesOn = false
    /// Decided versions that changed nothing, because a newer `state_version` was known.
    package var superseded: [Int64] = []
    package var attempt: Attempt?
    /// Time from when the change could have been sent until it was sent or decided.
    package var waited = Span.zero
    /// The wait reasons in this time, each with its length.
    package var held: [WaitSpan] = []
    /// The trace of the newest decided event that has one.
    package var trace: TraceID?

    /// An entry that decides nothing yet.
    package init(
        recipient: Recipient, card: Int64? = nil, version: Int64, attempt: Attempt? = nil
    ) {
        self.recipient = recipient
        self.card = card
        self.version = version
        self.attempt = attempt
    }

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

    /// True if the entry is about this card, or may be; nil: about any card of the recipient.
    package func concerns(_ card: Int64?) -> Bool {
        card == nil || self.card == nil || self.card == card
    }

    /// Finds the entry that decides a version, among all entries of a recipient, oldest first. It
    /// is the last entry that contains the version, else the last entry of a card before it that
    /// goes on. After a crash two entries may decide the version; the later one is right.
    ///
    /// - Parameter card: the card whose decision is asked for; nil: any card of the recipient.
    /// - Returns: the entry's index; nil if no entry decides the version.
    package static func fate(
        of version: Int64, in all: [DeliveryRecord], at card: Int64? = nil
    ) -> Int? {
        let own = all.lastIndex { $0.concerns(card) && $0.decision(of: version) != nil }
        return own ?? goingOn(in: all, before: version).first { all[$0].concerns(card) }
    }

    /// The entries whose decisions also hold for `version`, unless an entry of their card decides
    /// it: the last entry of each card before the version, if it goes on. The newest comes first.
    package static func goingOn(in all: [DeliveryRecord], before version: Int64 = .max) -> [Int] {
        var later: Set<Int64?> = []
        return all.indices.reversed().filter { place in
            let record = all[place]
            guard record.decided?.upperBound ?? .max < version else { return false }
            // An entry without a card may be about each card, so it ends what goes on at all.
            let isLast =
                record.card == nil ? later.isEmpty : later.isDisjoint(with: [record.card, nil])
            later.insert(record.card)
            return isLast && record.goesOn
        }
    }

    /// This entry's decision about a version, if `fate(of:in:)` has found this entry.
    package func fate(of version: Int64) -> EventDecision? {
        decision(of: version) ?? (goesOn && version > self.version ? decision : nil)
    }

    /// The kind of the fact: `push.` and Apple's answer, or `push.` and the decision.
    package var kind: String {
        switch attempt?.answer {
        case .accepted: "push.accepted"
        case .refused: "push.refused"
        case .notSent: "push.not_sent"
        case .unknown: "push.unknown"
        case nil: "push.\(decision?.action ?? "skipped")"
        }
    }

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
        case .refresh: purpose = .refresh
        case .settle: purpose = .settle
        case .trailing: purpose = .trailing
        case .frame: purpose = .frame
        default: purpose = nil
        }
    }
}

extension DeliveryRecord.Answer {
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

    /// The word for the outcome in the API.
    package var result: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "rejected"
        case .notSent: "not_sent"
        case .unknown: "unknown"
        }
    }
}
