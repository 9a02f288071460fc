/// A bucket of priority-10 sends, kept as one instant: the time at which it would be full again.
///
/// This is the virtual scheduling form of the generic cell rate algorithm (ITU-T I.371): in any
/// window of length w, at most `burst + rate · w` tokens are taken, exactly, without rounding and
/// without a refilled counter. Under another grant the missing tokens stay missing and come back at
/// the new rate.
package struct TokenBucket: Hashable, Sendable {
    package private(set) var fullAt: Instant
    /// The time of one token, by the grant that `fullAt` was computed with; 0 if there was none.
    private var interval: Int64 = 0

    package init(fullAt: Instant = .distantPast) { self.fullAt = fullAt }

    /// A reserved token is paid for as of this much later, and may be spent until then.
    package static let reservation = Span.seconds(2)
    /// The bucket's state under a grant.
    init(fullAt: Instant, of grant: Grant) {
        self.fullAt = fullAt
        interval = Self.interval(grant)?.nanoseconds ?? 0
    }

    /// When more than `kept` tokens will be there: now or later. Nil if `kept` is the whole bucket.
    ///
    /// - Parameter held: so many tokens were taken and are not spent. They are missing, however
    ///   long ago they were taken.
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

    /// Whether the last tokens taken may still be spent, because the bucket still lacks them.
    package func covers(_ grant: Grant, count: Int64 = 1, now: Instant) -> Bool {
        guard let interval = Self.interval(grant) else { return true }
        let missing = interval.times(count)
        return fullAt(under: grant, now: now) - missing >= now
    }

    /// Pays for the last tokens taken, under this grant, as if they were taken at `instant`.
    package mutating func renew(
        _ grant: Grant, count: Int64 = 1, until instant: Instant, now: Instant
    ) {
        guard let interval = Self.interval(grant) else { return }
        let missing = interval.times(count)
        fullAt = max(fullAt(under: grant, now: now), instant + missing)
        self.interval = interval.nanoseconds
    }

    /// From now on the bucket is computed by this grant. Returns whether the rate has changed.
    mutating func adopt(_ grant: Grant, now: Instant) -> Bool {
        guard let next = Self.interval(grant) else { return false }
        let fullAt = fullAt(under: grant, now: now)
        defer {
            self.fullAt = fullAt
            interval = next.nanoseconds
        }
        return fullAt != self.fullAt
    }

    /// Takes one token. The caller has asked `time` first.
    package mutating func take(_ grant: Grant, now: Instant) {
        guard let interval = Self.interval(grant) else { return }
        fullAt = max(fullAt(under: grant, now: now), now) + interval
        self.interval = interval.nanoseconds
    }

    /// Whole tokens left.
    package func left(_ grant: Grant, now: Instant) -> Int64 {
        guard let interval = Self.interval(grant) else { return grant.burst }
        let missing = max(0, (fullAt(under: grant, now: now) - now).nanoseconds)
        guard missing > 0 else { return grant.burst }
        // Rounded up.
        return max(0, grant.burst - (missing - 1) / interval.nanoseconds - 1)
    }

    /// After a restart: the bucket is at most empty, whatever the clocks did meanwhile.
    package mutating func clamp(_ grant: Grant, now: Instant) {
        guard let interval = Self.interval(grant) else { return }
        fullAt = min(fullAt, now + interval.times(grant.burst))
    }

    /// The time with the same tokens missing (at most all), at the rate of another grant.
    private func fullAt(under grant: Grant, now: Instant) -> Instant {
        guard let next = Self.interval(grant), interval != 0, interval != next.nanoseconds,
            fullAt > now
        else { return fullAt }
        let missing = Double((fullAt - now).nanoseconds) / Double(interval)
        let held = min(missing, Double(grant.burst))
        // At most the time to fill the whole bucket: `Grant.refillMax`, or a little more.
        return now + Span(nanoseconds: Int64((held * Double(next.nanoseconds)).rounded(.up)))
    }

    private static func interval(_ grant: Grant) -> Span? {
        // From 3,600 ns to a thousand hours, by the range of `perHour`.
        grant.perHour.map { Span(nanoseconds: Int64((3_600e9 / $0).rounded(.up))) }
    }
}
