/// A bucket of tokens for pushes at priority 10. It stores one time: when the bucket will be full.
///
/// This is the virtual scheduling form of the generic cell rate algorithm (ITU-T I.371). In any
/// window of length w, at most `burst + rate · w` tokens are taken, without rounding errors and
/// without a counter. If the grant changes, missing tokens stay missing and come back at the new
/// rate.
package struct TokenBucket: Hashable, Sendable {
    package private(set) var fullAt: Instant
    /// The time for one token by the grant with which `fullAt` was computed; 0 if there was no
    /// bucket.
    private var interval: Int64 = 0

    package init(fullAt: Instant = .distantPast) { self.fullAt = fullAt }

    /// A reserved token counts as taken this much later, and may be spent until then.
    package static let reservation = Span.seconds(2)
    /// A bucket that will be full at this time under a grant.
    init(fullAt: Instant, of grant: Grant) {
        self.fullAt = fullAt
        interval = Self.interval(grant)?.nanoseconds ?? 0
    }

    /// When more than `kept` tokens are in the bucket: now or later. Nil if `kept` is the whole
    /// bucket.
    ///
    /// - Parameter held: number of reserved tokens that are not spent. They count as missing,
    ///   whenever they were reserved.
    package func time(
        keeping kept: Int64, of grant: Grant, held: Int64 = 0, now: Instant
    ) -> Instant? {
        guard let interval = Self.interval(grant) else { return now }
        guard kept < grant.burst else { return nil }
        let back = interval.times(grant.burst - kept - 1)
        let missing = interval.times(held)
        let fullAt = max(fullAt(under: grant, now: now), held > 0 ? now + missing : .distantPast)
        return max(now, fullAt - back)
    }

    /// True if the last `count` tokens may still be spent, because the bucket has not refilled
    /// them.
    package func covers(_ grant: Grant, count: Int64 = 1, now: Instant) -> Bool {
        guard let interval = Self.interval(grant) else { return true }
        let missing = interval.times(count)
        return fullAt(under: grant, now: now) - missing >= now
    }

    /// Counts the last `count` tokens as taken at `instant`, under this grant.
    package mutating func renew(
        _ grant: Grant, count: Int64 = 1, until instant: Instant, now: Instant
    ) {
        guard let interval = Self.interval(grant) else { return }
        let missing = interval.times(count)
        fullAt = max(fullAt(under: grant, now: now), instant + missing)
        self.interval = interval.nanoseconds
    }

    /// Computes the bucket by this grant from now on. Returns true if its rate has changed.
    mutating func adopt(_ grant: Grant, now: Instant) -> Bool {
        guard let next = Self.interval(grant) else { return false }
        let fullAt = fullAt(under: grant, now: now)
        defer {
            self.fullAt = fullAt
            interval = next.nanoseconds
        }
        return fullAt != self.fullAt
    }

    /// Takes one token. Call it only after `time` has allowed it.
    package mutating func take(_ grant: Grant, now: Instant) {
        guard let interval = Self.interval(grant) else { return }
        fullAt = max(fullAt(under: grant, now: now), now) + interval
        self.interval = interval.nanoseconds
    }

    /// Number of whole tokens in the bucket.
    package func left(_ grant: Grant, now: Instant) -> Int64 {
        guard let interval = Self.interval(grant) else { return grant.burst }
        let missing = max(0, (fullAt(under: grant, now: now) - now).nanoseconds)
        guard missing > 0 else { return grant.burst }
        // Round missing tokens up.
        return max(0, grant.burst - (missing - 1) / interval.nanoseconds - 1)
    }

    /// Limits the bucket after a restart: it cannot lack more than all tokens, whatever the clocks
    /// say.
    package mutating func clamp(_ grant: Grant, now: Instant) {
        guard let interval = Self.interval(grant) else { return }
        fullAt = min(fullAt, now + interval.times(grant.burst))
    }

    /// When the bucket is full if the same number of tokens (at most all) comes back at another
    /// grant's rate.
    private func fullAt(under grant: Grant, now: Instant) -> Instant {
        guard let next = Self.interval(grant), interval != 0, interval != next.nanoseconds,
            fullAt > now
        else { return fullAt }
        let missing = Double((fullAt - now).nanoseconds) / Double(interval)
        let held = min(missing, Double(grant.burst))
        // At most about `Grant.refillMax`, so this does not overflow.
        return now + Span(nanoseconds: Int64((held * Double(next.nanoseconds)).rounded(.up)))
    }

    private static func interval(_ grant: Grant) -> Span? {
        // From 3,600 ns to a thousand hours, because of `perHourRange`.
        grant.perHour.map { Span(nanoseconds: Int64((3_600e9 / $0).rounded(.up))) }
    }
}
