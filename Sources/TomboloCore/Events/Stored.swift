/// The result of a stored request that is no event.
package struct Stored: Hashable, Sendable {
    /// Whether the thing is new, changed, deleted, or unchanged.
    package enum Kind: Hashable, Sendable {
        case created, updated, deleted
        /// A token of an unknown activity, kept for 8 hours.
        case kept
        /// Older than the known value: nothing changed.
        case outdated
    }

    /// An accepted action of a user.
    package struct TakenAction: Hashable, Sendable {
        /// `act_` and 16 hexadecimal digits.
        package let id: String
        /// Wall time from which the action must not be carried out any more.
        package let expiresAt: Instant

        /// Makes the answer for an accepted action.
        package init(id: String, expiresAt: Instant) {
            (self.id, self.expiresAt) = (id, expiresAt)
        }
    }

    package var kind: Kind
    /// Warnings about the request.
    package var lint: [Lint] = []
    /// For a retry: numbers of pushes that are sent again, and of those that cannot be.
    package var count = 0
    package var unreachable = 0
    /// For a retry of dead letters: why the `unreachable` ones stay.
    package var kept: [KeptLetters] = []
    /// For a deleted device: ends of cards that a pause or a closed upstream holds.
    package var endsWaiting = 0
    /// The number of a thing that the relay numbers.
    package var number: Int64?
    /// For an action: its id, and when it expires.
    package var action: TakenAction?
    /// True if the answer repeats that of an earlier request with the same idempotency key.
    package var isReplay = false
    /// For a presence report: its result.
    package var presence: Presence.Verdict?

    package init(_ kind: Kind, number: Int64? = nil, lint: [Lint] = []) {
        self.kind = kind
        self.number = number
        self.lint = lint
    }
}
