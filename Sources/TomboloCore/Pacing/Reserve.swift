/// Tokens that a bucket keeps for alerts. A change of high urgency then has priority 5 (rule 7).
package struct Reserve: Hashable, Sendable {
    /// Number of tokens that are kept.
    package var kept: Int64
    /// Number of tokens in a full bucket.
    package var burst: Int64

    /// The reserve as a clause, for log lines and answers.
    package var text: String {
        "\(kept) of the bucket's \(burst) \(kept == 1 ? "is" : "are") kept for alerts (reserve)"
    }
}

/// Says until when a wish cannot have priority 10.
package struct Closing: Hashable, Sendable {
    package var until: Instant
    /// The reserve because of which it cannot; nil if there is another cause.
    package var reserve: Reserve?
}

extension PacingState {
    /// Until when a wish cannot have priority 10, and because of which reserve. Nil if it can have
    /// it now, or never.
    package func closing(
        _ wish: Wish, _ grant: Grant, device: (spent: DeviceBudget, grant: Grant)?, now: Instant
    ) -> Closing? {
        guard grant.perHour != nil,
            let until = highPriorityTime(wish, grant, device: device, now: now), until > now
        else { return nil }
        let own = highPriorityTime(wish, grant, device: nil, now: now) ?? now
        let closed = own > now ? grant : device?.grant ?? grant
        guard wish == .latest(.high), closed.reserve > 0 else { return Closing(until: until) }
        return Closing(
            until: until, reserve: Reserve(kept: closed.reserve, burst: closed.burst))
    }
}
