/// What a bucket keeps for alerts: a change of high urgency goes at priority 5 then (rule 7).
package struct Reserve: Hashable, Sendable {
    package var kept: Int64
    /// What the bucket holds when it is full.
    package var burst: Int64

    /// Both in tokens.
    package init(kept: Int64, burst: Int64) {
        (self.kept, self.burst) = (kept, burst)
    }

    /// As a clause.
    package var text: String {
        "\(kept) of the bucket's \(burst) \(kept == 1 ? "is" : "are") kept for alerts (reserve)"
    }
}

/// That priority 10 is closed to a wish.
package struct Closing: Hashable, Sendable {
    package var until: Instant
    /// Of the bucket that closes it; nil where it keeps nothing from the wish.
    package var reserve: Reserve?
}

extension PacingState {
    /// How long priority 10 is closed to a wish, and what is kept from it; nil where it is open,
    /// and where it never is.
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
