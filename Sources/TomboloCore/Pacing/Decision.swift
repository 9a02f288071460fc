/// The relay's decision about a change at one destination.
package enum Decision: Hashable, Sendable {
    // Temporary decisions:
    /// The change is being sent, so it does not wait.
    case sending
    case deferred(until: Instant?, Hold)
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
        case .deferred(_, let hold): hold.name
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

/// Why a change waits. Each wait has an end, and answers show its reason.
package enum Hold: UInt8, Hashable, Sendable, CaseIterable {
    case spacing, lowPrioritySpacing, bucket, inFlight, streamLimit, reserving, startToken,
        updateToken
    case unknownStart, tokenBackOff, upstreamClosed, timestampAhead, paused
    case deviceSpacing, deviceLowPrioritySpacing, deviceBucket
    case startBudget, stranded, channel
    case appleUnwell, noAnswer, oldWord, nextSecond

    /// True if it is the device's own budget that the change waits for.
    var isOfDevice: Bool {
        switch self {
        case .deviceSpacing, .deviceLowPrioritySpacing, .deviceBucket: true
        default: false
        }
    }

    /// Finds the reason with this `name`. Returns nil for other names.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    package var name: String {
        switch self {
        case .spacing: "spacing"
        case .lowPrioritySpacing: "low_priority_spacing"
        case .bucket: "bucket"
        case .inFlight: "in_flight"
        case .streamLimit: "stream_limit"
        case .reserving: "reserving"
        case .startToken: "no_start_token"
        case .updateToken: "no_update_token"
        case .unknownStart: "start_unknown"
        case .tokenBackOff: "token_back_off"
        case .upstreamClosed: "upstream_closed"
        case .timestampAhead: "timestamp_ahead"
        case .paused: "paused"
        case .deviceSpacing: "device_spacing"
        case .deviceLowPrioritySpacing: "device_low_priority_spacing"
        case .deviceBucket: "device_bucket"
        case .startBudget: "start_budget"
        case .stranded: "stranded"
        case .channel: "no_channel"
        case .appleUnwell: "apple_error"
        case .noAnswer: "no_answer"
        case .oldWord: "token_doubted"
        case .nextSecond: "next_second"
        }
    }
}

/// Why a change was not sent and need not be.
package enum Skip: UInt8, Hashable, Sendable, CaseIterable {
    case unchanged, superseded, annihilated, noRoute, slowed, hidden, paused, notVisible
    case startWait

    package var name: String {
        switch self {
        case .unchanged: "unchanged"
        case .superseded: "superseded"
        case .annihilated: "annihilated"
        case .noRoute: "no_route"
        case .slowed: "slowed"
        case .hidden: "hidden"
        case .paused: "paused"
        case .notVisible: "not_visible"
        case .startWait: "start_wait"
        }
    }
}
