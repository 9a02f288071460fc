/// The relay's decision about a change at one destination.
package enum Decision: Hashable, Sendable {
    // Temporary decisions:
    /// The change is being sent, so it does not wait.
    case sending
    case deferred(until: Instant?, WaitReason)
    // Final decisions:
    /// - Parameter isReserved: true if the push had priority 5 despite its high urgency, because
    ///   the rest of the budget is reserved for alerts.
    case sent(isReserved: Bool)
    case merged
    case skipped(Skip)
    case expired
    case refused(reason: String)

    /// The word in the API.
    package var action: String {
        switch self {
        case .sending: "sending"
        case .deferred: "deferred"
        case .sent: "sent"
        case .merged: "merged"
        case .skipped: "skipped"
        case .expired: "expired"
        case .refused: "refused"
        }
    }

    package var reason: String? {
        switch self {
        case .deferred(_, let reason): reason.name
        case .skipped(let skip): skip.name
        case .refused(let reason): reason
        case .sent(true): "reserve"
        case .sending, .sent, .merged, .expired: nil
        }
    }

    package var until: Instant? {
        if case .deferred(let until, _) = self { until } else { nil }
    }

    /// The decision as the producer sees it: a push that only waits until its budget is durable
    /// counts as being sent.
    package var forProducer: Decision {
        if case .deferred(_, .reserving) = self { .sending } else { self }
    }

    /// When the wait ends, to find the slowest destination. An unknown end is the latest.
    package var slowness: Instant {
        guard case .deferred(let until, _) = forProducer else { return .distantPast }
        return until ?? .distantFuture
    }
}

/// Why a change was not sent and need not be.
package enum Skip: String, Named, Sendable, CaseIterable {
    case unchanged, superseded, annihilated
    case noRoute = "no_route"
    case slowed, hidden, paused
    case notVisible = "not_visible"
    case startWait = "start_wait"
}
