package import TomboloCore

/// What became of the pushes of one app in one environment, since the process began.
package struct UpstreamMeter: Sendable {
    /// Refusals by Apple's reason; `other` for what is in none of Apple's tables.
    package private(set) var refusals: [String: Int64]
    /// From the newest change that a push carries, as the log has it, to its hand-over.
    package private(set) var eventToSent = DurationHistogram()
    /// From hand-over to Apple's answer.
    package private(set) var sentToAnswered = DurationHistogram()

    /// The name of all that Apple's tables do not have: an endpoint may answer anything.
    package static let otherReason = "other"

    init(reasons: [String]) {
        refusals = [Self.otherReason: 0]
        for reason in reasons { refusals[reason] = 0 }
    }

    mutating func sent(changedAt: Instant?, now: Instant) {
        if let changedAt { eventToSent.count(now - changedAt) }
    }

    /// Those of another app's way too.
    mutating func addRefusals(of other: UpstreamMeter) {
        refusals.merge(other.refusals, uniquingKeysWith: +)
    }

    mutating func answered(_ outcome: PushOutcome) {
        switch outcome.result {
        case .accepted: sentToAnswered.count(outcome.took)
        case .rejected(_, let reason, _, _):
            sentToAnswered.count(outcome.took)
            refusals[refusals[reason] == nil ? Self.otherReason : reason, default: 0] += 1
        case .notSent, .unknown: break
        }
    }
}

/// An app's way to Apple, as an operator sees it.
package struct UpstreamView: Sendable {
    package let app: String
    package let environment: APNsEnvironment
    /// Pushes wait: Apple refuses the key, is unwell, or cannot be reached.
    package internal(set) var isClosed: Bool
    /// Why, where it is closed.
    package internal(set) var trouble: UpstreamTrouble?
    /// When one push tries again; nil where the next one does at once.
    package internal(set) var nextTry: Instant?
    package internal(set) var meter: UpstreamMeter
}

/// Why pushes of an app wait for Apple.
package struct UpstreamTrouble: Hashable, Sendable {
    /// By the relay's clock.
    package let since: Instant
    /// Apple's answer with its reason as it came, or why there was none.
    package let cause: String
}
