package import TomboloCore
package import TomboloLoop

/// When a provider token is minted, and what follows when Apple refuses one. Signs nothing itself.
///
/// One for all connections of a key. Apple's rule: a token at least 20 and at most 60 minutes old
/// at its renewal (*Establishing a token-based connection to APNs*); refused tokens poison the
/// connection that carried them, so each remedy includes a new connection.
///
/// Age is taken by the monotonic clock and by the wall clock, whichever says more: the one stands
/// still while a machine sleeps, the other may be set.
///
/// Apple takes tokens again once a wrong clock is set right: each step allows one minting earlier.
package struct ProviderToken: Hashable, Sendable {
    /// A token is renewed before its first use at this age. Apple refuses it at 60 minutes.
    package static let renewedAt = Duration.seconds(50 * 60)
    /// No two mintings by the clock, and no two because of refusals, are closer than this.
    package static let mintedAtMostEvery = Duration.seconds(20 * 60)

    /// A step of the wall clock by more than this may be why Apple refuses a token.
    private static let stepMax = Span.minutes(5).nanoseconds

    /// Which minting a token came from; 0 is none.
    package typealias Generation = UInt32

    /// What to do after Apple called a token expired.
    package enum Remedy: Hashable, Sendable {
        /// A newer token is there or will be minted at its first use: it goes on a new connection.
        case newToken
        /// The token is as new as it may be. The clock here, or Apple's, is wrong: for an operator.
        case none
    }

    private struct Minting: Hashable, Sendable {
        var at: MonotonicInstant
        var issuedAt: Instant
        /// Apple called it expired when no other could be minted.
        var isRefused = false

        /// By how much the wall clock was set since then; a sleep looks the same as a step ahead.
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

    /// Whether a token must be minted before the next push.
    package func isDue(now: MonotonicInstant, wall: Instant) -> Bool {
        switch state {
        case .unminted, .expired:
            return true
        case .current(let minting):
            let step = minting.step(now: now, wall: wall).nanoseconds
            // `iat` is in the future by the clock as it is now; or Apple refused it for the clock.
            if step < -Self.stepMax || minting.isRefused && step > Self.stepMax { return true }
            let age = now - minting.at
            let difference = wall - minting.issuedAt
            // Apple measures the distance of `iat` to now in both directions.
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
    /// However many pushes in flight bring that answer, one token is minted, and the next for this
    /// reason not within 20 minutes, unless the wall clock is set.
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
