/// Tokens that a bucket keeps for alerts: a change of high urgency has priority 5 then (rule 7).
package struct Reserve: Hashable, Sendable {
    package var kept: Int64
    /// The tokens in the full bucket.
    package var burst: Int64

    /// Both in tokens.
    package init(kept: Int64, burst: Int64) {
        (self.kept, self.burst) = (kept, burst)
    }

    /// A clause for log lines and answers.
    package var text: String {
        "\(kept) of the bucket's \(burst) \(kept == 1 ? "is" : "are") kept for alerts (reserve)"
    }
}

/// States that priority 10 is closed to a wish.
package struct Closing: Hashable, Sendable {
    package var until: Instant
    /// The reserve of the bucket that closes it; nil if no reserve is the reason.
    package var reserve: Reserve?
}

extension PacingState {
    /// How long priority 10 is closed to a wish, and by which reserve; nil if it is open, or never
    /// opens.
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
