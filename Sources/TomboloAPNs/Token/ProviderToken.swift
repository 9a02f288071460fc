package import TomboloCore
package import TomboloLoop

/// Decides when to make a provider token, and what to do when Apple refuses one. It does not sign.
///
/// All connections of a key share one token. Apple's rule: renew a token at an age of 20 to 60
/// minutes (*Establishing a token-based connection to APNs*). A connection that carried a refused
/// token stays unusable, so each remedy includes a new connection.
///
/// The age is the greater of the monotonic clock's and the wall clock's: the first stops while a
/// machine sleeps, the second may be set.
///
/// Apple accepts tokens again once a wrong clock is corrected, so each step of the clock allows one
/// earlier renewal.
package struct ProviderToken: Hashable, Sendable {
    /// A token is renewed before its first use at this age. Apple refuses it at 60 minutes.
    package static let renewedAt = Duration.seconds(50 * 60)
    /// Least time between two renewals by age, and between two because of refusals.
    package static let mintedAtMostEvery = Duration.seconds(20 * 60)

    /// A larger step of the wall clock may be why Apple refuses a token.
    private static let stepMax = Span.minutes(5).nanoseconds

    /// Number of a token, from 1; 0 means none.
    package typealias Generation = UInt32

    /// What to do after Apple called a token expired.
    package enum Remedy: Hashable, Sendable {
        /// A newer token exists or will be made at its first use. Send it on a new connection.
        case newToken
        /// No newer token is allowed. The clock here, or Apple's, is wrong: an operator must act.
        case none
    }

    private struct Minting: Hashable, Sendable {
        var at: MonotonicInstant
        var issuedAt: Instant
        /// True if Apple called it expired when no new one was allowed.
        var isRefused = false

        /// Step of the wall clock since then. A sleep looks like a step ahead.
        func step(now: MonotonicInstant, wall: Instant) -> Span {
            wall - (issuedAt + Span(nanoseconds: now.nanoseconds &- at.nanoseconds))
        }
    }

    private enum State: Hashable, Sendable {
        case unminted
        case current(Minting)
        /// Refused by Apple as expired.
        case expired
    }

    package private(set) var generation: Generation = 0
    private var state = State.unminted
    private var lastExpiry: MonotonicInstant?

    package init() {}

    /// True if a token must be made before the next push.
    package func isDue(now: MonotonicInstant, wall: Instant) -> Bool {
        switch state {
        case .unminted, .expired:
            return true
        case .current(let minting):
            let step = minting.step(now: now, wall: wall).nanoseconds
            // The clock went back, so that `iat` is in the future; or Apple refused the token and
            // the clock has since gone ahead.
            if step < -Self.stepMax || minting.isRefused && step > Self.stepMax { return true }
            let age = now - minting.at
            let difference = wall - minting.issuedAt
            // Apple measures the distance between `iat` and now in both directions.
            let wallAge = Duration.nanoseconds(Int64(clamping: difference.nanoseconds.magnitude))
            return max(age, wallAge) >= Self.renewedAt && age >= Self.mintedAtMostEvery
        }
    }

    /// A token with `iat` = `wall` was signed.
    package mutating func minted(now: MonotonicInstant, wall: Instant) {
        generation &+= 1
        state = .current(Minting(at: now, issuedAt: wall))
    }

    /// Apple answered `ExpiredProviderToken` to a token of `generation`.
    ///
    /// Only one token is made, however many pushes in flight get this answer. The next one for this
    /// reason is made 20 minutes later at the earliest, unless the wall clock is set.
    package mutating func expired(
        _ refused: Generation, now: MonotonicInstant, wall: Instant
    ) -> Remedy {
        guard refused == generation, case .current(var minting) = state else { return .newToken }
        minting.isRefused = true
        state = .current(minting)
        if !isDue(now: now, wall: wall), let lastExpiry, now - lastExpiry < Self.mintedAtMostEvery {
            return .none
        }
        lastExpiry = now
        state = .expired
        return .newToken
    }
}
