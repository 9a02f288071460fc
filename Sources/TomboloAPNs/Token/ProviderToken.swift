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
    /// At this age a token is replaced before its next use. Apple refuses tokens at 60 minutes.
    package static let renewedAt = Duration.seconds(50 * 60)
    /// Shortest time between two renewals by age, and between two because of refusals.
    package static let mintedAtMostEvery = Duration.seconds(20 * 60)

    /// If the wall clock has jumped by more, the jump may be the reason why Apple refuses a token.
    private static let stepMax = Span.minutes(5).nanoseconds

    /// Number of a token, counted from 1; 0 means no token.
    package typealias Generation = UInt32

    /// What to do after Apple called a token expired.
    package enum Remedy: Hashable, Sendable {
        /// A newer token exists, or is made when needed. Send the push again on a new connection.
        case newToken
        /// No new token may be made. This machine's clock, or Apple's, is wrong: someone must act.
        case none
    }

    private struct Minting: Hashable, Sendable {
        var at: MonotonicInstant
        var issuedAt: Instant
        /// True if Apple called the token expired when no new one could be made.
        var isRefused = false

        /// How far the wall clock has jumped since the token was made. A sleep of the machine looks
        /// like a jump ahead.
        func step(now: MonotonicInstant, wall: Instant) -> Span {
            wall - (issuedAt + Span(nanoseconds: now.nanoseconds &- at.nanoseconds))
        }
    }

    private enum State: Hashable, Sendable {
        case unminted
        case current(Minting)
        /// Apple refused the token as expired.
        case expired
    }

    package private(set) var generation: Generation = 0
    private var state = State.unminted
    private var lastExpiry: MonotonicInstant?

    package init() {}

    /// True if a new token must be made before the next push.
    package func isDue(now: MonotonicInstant, wall: Instant) -> Bool {
        switch state {
        case .unminted, .expired:
            return true
        case .current(let minting):
            let step = minting.step(now: now, wall: wall).nanoseconds
            // The clock was set back, so `iat` is in the future. Or Apple refused the token, and
            // the clock has been set ahead since.
            if step < -Self.stepMax || minting.isRefused && step > Self.stepMax { return true }
            let age = now - minting.at
            let difference = wall - minting.issuedAt
            // Apple also refuses an `iat` that is too far in the future, so the sign is irrelevant.
            let wallAge = Duration.nanoseconds(Int64(clamping: difference.nanoseconds.magnitude))
            return max(age, wallAge) >= Self.renewedAt && age >= Self.mintedAtMostEvery
        }
    }

    /// Notes that a token with `iat` = `wall` was signed.
    package mutating func minted(now: MonotonicInstant, wall: Instant) {
        generation &+= 1
        state = .current(Minting(at: now, issuedAt: wall))
    }

    /// Apple answered `ExpiredProviderToken` to a token of `generation`. Returns what to do.
    ///
    /// Only one new token is made even if many pushes in flight get this answer. A further one for
    /// this reason is made 20 minutes later at the earliest, unless the wall clock is set.
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
