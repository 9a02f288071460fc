package import TomboloLoop

/// Decides what one connection to APNs may carry. Pure.
package struct ConnectionAllowance: Hashable, Sendable {
    private struct Carried: Hashable, Sendable {
        var generation: ProviderToken.Generation
        var since: MonotonicInstant
    }

    /// Pushes handed to the connection that have no outcome yet.
    package private(set) var inFlight = 0
    /// True if it takes no further push. It is closed when those in flight have ended.
    package private(set) var isRetired = false
    /// True once Apple has accepted a push on it. Until then one stream is allowed, whatever
    /// SETTINGS say (*Sending notification requests to APNs*).
    package private(set) var hasAccepted = false
    /// True once it got an answer that did not indicate a fault of the connection itself.
    package private(set) var hasServed = false
    private var carried: Carried?
    private var lastAnswerAt: MonotonicInstant?
    private var withoutRoomSince: MonotonicInstant?

    package init() {}

    /// Pushes it may take now. `peerAllows` is what the peer's stream limit leaves.
    package func free(peerAllows: Int) -> Int {
        guard !isRetired else { return 0 }
        return hasAccepted ? max(0, peerAllows) : max(0, min(peerAllows, 1 - inFlight))
    }

    /// Returns true, and notes the token, if a provider token may be used on the connection.
    ///
    /// The first token may always be used, another one only 20 minutes after the last change. Apple
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

    /// A push in flight was answered. `serves` is false if the answer indicates a fault of the
    /// connection.
    package mutating func answered(accepted: Bool, serves: Bool, now: MonotonicInstant) {
        inFlight -= 1
        lastAnswerAt = now
        if accepted { hasAccepted = true }
        if serves { hasServed = true }
    }

    /// The following end is not the connection's fault: it counts as one that served.
    package mutating func excuse() { hasServed = true }

    /// A push in flight ended without an answer.
    package mutating func lost() { inFlight -= 1 }

    /// True if nothing was answered after `instant`. Then a push from `instant` that is unanswered
    /// at its deadline indicates a fault of the whole connection, not only of its stream.
    package func isSilent(since instant: MonotonicInstant) -> Bool {
        lastAnswerAt.map { $0 <= instant } ?? true
    }

    /// Since when the peer has left no room for a push although none is in flight. nil if it leaves
    /// room, or if a push in flight will free some. Call it after each change.
    package mutating func withoutRoom(
        peerAllows: Int, now: MonotonicInstant
    ) -> MonotonicInstant? {
        let hasNoRoom = !isRetired && inFlight == 0 && peerAllows <= 0
        withoutRoomSince = hasNoRoom ? withoutRoomSince ?? now : nil
        return withoutRoomSince
    }

    /// It takes no further push.
    package mutating func retire() { isRetired = true }
}
