package import TomboloLoop

/// What one connection to APNs may carry: decided here, carried out elsewhere.
package struct ConnectionAllowance: Hashable, Sendable {
    private struct Carried: Hashable, Sendable {
        var generation: ProviderToken.Generation
        var since: MonotonicInstant
    }

    /// Pushes handed to the connection that have no outcome yet.
    package private(set) var inFlight = 0
    /// Takes no further push: it is closed when those in flight have ended.
    package private(set) var isRetired = false
    /// Whether Apple accepted a push here. Until then one stream is allowed, whatever SETTINGS say
    /// (*Sending notification requests to APNs*).
    package private(set) var hasAccepted = false
    /// Whether anything was answered here that did not speak against the connection itself.
    package private(set) var hasServed = false
    private var carried: Carried?
    private var lastAnswerAt: MonotonicInstant?
    private var withoutRoomSince: MonotonicInstant?

    package init() {}

    /// Pushes it may take now, where the peer's stream limit leaves room for `peerAllows` more.
    package func free(peerAllows: Int) -> Int {
        guard !isRetired else { return 0 }
        return hasAccepted ? max(0, peerAllows) : max(0, min(peerAllows, 1 - inFlight))
    }

    /// Whether a provider token may be used here; notes it where it may.
    ///
    /// The first may always; another one only 20 minutes after the last change: Apple counts
    /// changes by connection and answers `TooManyProviderTokenUpdates`.
    package mutating func carries(
        _ generation: ProviderToken.Generation, now: MonotonicInstant
    ) -> Bool {
        if let carried {
            if carried.generation == generation { return true }
            if now - carried.since < ProviderToken.mintedAtMostEvery { return false }
        }
        carried = Carried(generation: generation, since: now)
        return true
    }

    /// A push was handed to the connection.
    package mutating func took() { inFlight += 1 }

    /// A push in flight was answered; `serves` unless the answer speaks against the connection
    /// itself.
    package mutating func answered(accepted: Bool, serves: Bool, now: MonotonicInstant) {
        inFlight -= 1
        lastAnswerAt = now
        if accepted { hasAccepted = true }
        if serves { hasServed = true }
    }

    /// What follows is no fault of the connection: it ends as one that served.
    package mutating func excuse() { hasServed = true }

    /// A push in flight ended without an answer.
    package mutating func lost() { inFlight -= 1 }

    /// Whether nothing was answered after the turn at `instant`: a push handed over then, and
    /// unanswered at its deadline, speaks against the whole connection and not only against its own
    /// stream.
    package func isSilent(since instant: MonotonicInstant) -> Bool {
        lastAnswerAt.map { $0 <= instant } ?? true
    }

    /// Since when the peer has left no room for a push although none is in flight; nil where it
    /// leaves room, or where a push in flight will make room. To be asked after each change.
    package mutating func withoutRoom(
        peerAllows: Int, now: MonotonicInstant
    ) -> MonotonicInstant? {
        let hasNoRoom = !isRetired && inFlight == 0 && peerAllows <= 0
        withoutRoomSince = hasNoRoom ? withoutRoomSince ?? now : nil
        return withoutRoomSince
    }

    /// From now on it takes nothing.
    package mutating func retire() { isRetired = true }
}
