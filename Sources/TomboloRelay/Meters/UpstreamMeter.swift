package import TomboloCore

/// Outcomes of one upstream's pushes since the process began.
package struct UpstreamMeter: Sendable {
    /// Number of refusals by Apple's reason; `other` counts reasons that are not in Apple's tables.
    package private(set) var refusals: [String: Int64]
    /// Time from the newest change in a push, as recorded in the log, until the sender gets the
    /// push.
    package private(set) var eventToSent = DurationHistogram()
    /// Time from passing the push to the sender until Apple's answer.
    package private(set) var sentToAnswered = DurationHistogram()
    /// Time from the newest change in a push, as recorded in the log, until Apple's answer.
    package private(set) var eventToAnswered = DurationHistogram()

    /// The counter of reasons that are not in Apple's tables: an endpoint may answer anything.
    package static let otherReason = "other"

    init(reasons: [String]) {
        refusals = [Self.otherReason: 0]
        for reason in reasons { refusals[reason] = 0 }
    }

    mutating func sent(changedAt: Instant?, now: Instant) {
        if let changedAt { eventToSent.count(now - changedAt) }
    }

    mutating func addRefusals(of other: UpstreamMeter) {
        refusals.merge(other.refusals, uniquingKeysWith: +)
    }

    mutating func answered(_ outcome: PushOutcome, now: Instant) {
        switch outcome.result {
        case .accepted: count(outcome, now: now)
        case .rejected(_, let reason, _, _):
            count(outcome, now: now)
            refusals[refusals[reason] == nil ? Self.otherReason : reason, default: 0] += 1
        case .notSent, .unknown: break
        }
    }

    private mutating func count(_ outcome: PushOutcome, now: Instant) {
        sentToAnswered.count(outcome.took)
        if let changedAt = outcome.changedAt { eventToAnswered.count(now - changedAt) }
    }
}

/// An upstream, as an operator sees it.
package struct UpstreamView: Sendable {
    /// Of several tenants' upstreams as one: the first tenant's.
    package let number: UpstreamNumber
    package let app: String
    package let environment: APNsEnvironment
    /// True if pushes wait because Apple refuses the key, has a fault, or is unreachable.
    package internal(set) var isClosed: Bool
    /// Why the upstream is closed; nil if it is open.
    package internal(set) var trouble: UpstreamTrouble?
    /// When a single push is tried again; nil if the next push is sent at once.
    package internal(set) var nextTry: Instant?
    package internal(set) var meter: UpstreamMeter
}

/// Why pushes of an app wait.
package struct UpstreamTrouble: Hashable, Sendable {
    /// Time by the relay's clock.
    package let since: Instant
    /// Apple's answer with its reason, or why there was no answer.
    package let cause: String
}
