package import TomboloLoop

/// Decides which pushes one connection to APNs may carry. Pure.
package struct ConnectionAllowance: Hashable, Sendable {
    private struct Carried: Hashable, Sendable {
        var generation: ProviderToken.Generation
        var since: MonotonicInstant
    }

    /// Number of pushes handed to the connection that have no outcome yet.
    package private(set) var inFlight = 0
    /// True if the connection takes no further push. It is closed when those in flight have ended.
    package private(set) var isRetired = false
    /// True once Apple has accepted a push on this connection. Before, only one stream is allowed,
    /// even if SETTINGS allow more (*Sending notification requests to APNs*).
    package private(set) var hasAccepted = false
    /// True once an answer came that did not show a fault of the connection itself.
    package private(set) var hasServed = false
    private var carried: Carried?
    private var lastAnswerAt: MonotonicInstant?
    private var withoutRoomSince: MonotonicInstant?

    package init() {}

    /// Number of pushes that the connection may take now. `peerAllows` is how many more streams the
    /// peer's limit allows.
    package func free(peerAllows: Int) -> Int {
        guard !isRetired else { return 0 }
        return hasAccepted ? max(0, peerAllows) : max(0, min(peerAllows, 1 - inFlight))
    }

    /// Returns true if the connection may carry this provider token, and then notes the token.
    ///
    /// The first token may always be used; another one only 20 minutes after the last change. Apple
    /// counts changes by connection and answers `TooManyProviderTokenUpdates`.
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

    /// A push in flight was answered. `serves` is false if it shows a fault of the connection.
    package mutating func answered(accepted: Bool, serves: Bool, now: MonotonicInstant) {
        inFlight -= 1
        lastAnswerAt = now
        if accepted { hasAccepted = true }
        if serves { hasServed = true }
    }

    /// The connection will end soon, but not through its own fault: it counts as one that served.
    package mutating func excuse() { hasServed = true }

    /// A push in flight ended without an answer.
    package mutating func lost() { inFlight -= 1 }

    /// True if no answer has come after `instant`. Then a push handed over at `instant` that
    /// reaches its deadline shows a fault of the whole connection, not only of its stream.
    package func isSilent(since instant: MonotonicInstant) -> Bool {
        lastAnswerAt.map { $0 <= instant } ?? true
    }

    /// Since when the peer has left no room for a push although none is in flight. Nil if it leaves
    /// room, or if a push in flight will leave room when it ends. Call it after each change.
    package mutating func withoutRoom(
        peerAllows: Int, now: MonotonicInstant
    ) -> MonotonicInstant? {
        let hasNoRoom = !isRetired && inFlight == 0 && peerAllows <= 0
        withoutRoomSince = hasNoRoom ? withoutRoomSince ?? now : nil
        return withoutRoomSince
    }

    /// The connection takes no further push.
    package mutating func retire() { isRetired = true }
}
