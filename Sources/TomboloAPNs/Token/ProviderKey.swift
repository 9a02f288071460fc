package import TomboloCore
package import TomboloLoop

/// One push key in use. It makes the provider token that all its upstreams and connections share.
///
/// `@unchecked Sendable`: used on its loop's thread only, which every method checks. To replace a
/// key, make a new `ProviderKey`.
package final class ProviderKey: @unchecked Sendable {
    /// The `authorization` of a push, and the generation of its token.
    package struct Authorization: Hashable, Sendable {
        /// `bearer <token>`. It stays secret for an hour: never log it.
        package let value: String
        package let generation: ProviderToken.Generation
    }

    private let signer: ProviderTokenSigner
    private let loop: any Loop
    private let wallTime: @Sendable () -> Instant
    private var token = ProviderToken()
    /// Start of the turn in which the token was last checked.
    private var lookedAt: MonotonicInstant?
    private var authorization = Authorization(value: "", generation: 0)

    /// `wallTime` is the machine's wall clock, because Apple compares `iat` with its own.
    package init(
        signer: ProviderTokenSigner, loop: any Loop, wallTime: @escaping @Sendable () -> Instant
    ) {
        self.signer = signer
        self.loop = loop
        self.wallTime = wallTime
    }

    /// The authorization for a push that is sent now. Makes a new token if one is due.
    package func current() -> Authorization {
        renewIfDue()
        return authorization
    }

    /// The generation of `current()`, for callers that may already have its value.
    package func currentGeneration() -> ProviderToken.Generation {
        renewIfDue()
        return authorization.generation
    }

    private func renewIfDue() {
        loop.checkIsolated()
        // Read the clocks once for all pushes of a turn.
        guard lookedAt != loop.now || authorization.generation != token.generation else { return }
        lookedAt = loop.now
        let wall = wallTime()
        if token.isDue(now: loop.now, wall: wall) {
            token.minted(now: loop.now, wall: wall)
            authorization = Authorization(
                value: "bearer " + signer.token(issuedAt: wall), generation: token.generation)
        }
    }

    /// Apple answered `ExpiredProviderToken` to a push with token `generation`. Returns what to do.
    package func expired(_ generation: ProviderToken.Generation) -> ProviderToken.Remedy {
        loop.checkIsolated()
        lookedAt = nil
        return token.expired(generation, now: loop.now, wall: wallTime())
    }
}
