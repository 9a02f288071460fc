package import TomboloCore
package import TomboloLoop

/// One push key in use: the provider token that all lanes and connections of the key share.
///
/// `@unchecked Sendable`: used on the thread of its loop only; every face checks that. A key that
/// replaces another is another `ProviderKey`.
package final class ProviderKey: @unchecked Sendable {
    /// What a push carries in `authorization`, and which minting it came from.
    package struct Authorization: Hashable, Sendable {
        /// `bearer <token>`. A secret for an hour: never logged.
        package let value: String
        package let generation: ProviderToken.Generation
    }

    private let signer: ProviderTokenSigner
    private let loop: any Loop
    private let wallTime: @Sendable () -> Instant
    private var token = ProviderToken()
    /// The turn in which the token was found to be good.
    private var lookedAt: MonotonicInstant?
    private var authorization = Authorization(value: "", generation: 0)

    /// `wallTime` is the machine's wall clock: Apple compares `iat` with its own.
    package init(
        signer: ProviderTokenSigner, loop: any Loop, wallTime: @escaping @Sendable () -> Instant
    ) {
        self.signer = signer
        self.loop = loop
        self.wallTime = wallTime
    }

    /// The authorization for a push that goes now. Mints where one is due.
    package func current() -> Authorization {
        renewIfDue()
        return authorization
    }

    /// The minting of `current()` alone, for who may have its value already.
    package func currentGeneration() -> ProviderToken.Generation {
        renewIfDue()
        return authorization.generation
    }

    private func renewIfDue() {
        loop.checkIsolated()
        // One look at the clocks for all pushes of a turn.
        guard lookedAt != loop.now || authorization.generation != token.generation else { return }
        lookedAt = loop.now
        let wall = wallTime()
        if token.isDue(now: loop.now, wall: wall) {
            token.minted(now: loop.now, wall: wall)
            authorization = Authorization(
                value: "bearer " + signer.token(issuedAt: wall), generation: token.generation)
        }
    }

    /// Apple answered `ExpiredProviderToken` to a push that carried `generation`.
    package func expired(_ generation: ProviderToken.Generation) -> ProviderToken.Remedy {
        loop.checkIsolated()
        lookedAt = nil
        return token.expired(generation, now: loop.now, wall: wallTime())
    }
}
