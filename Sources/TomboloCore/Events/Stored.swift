/// The answer to a stored request that is not an event.
package struct Stored: Hashable, Sendable {
    /// What happened to the stored thing.
    package enum Kind: Hashable, Sendable {
        case created, updated, deleted
        /// A token of an unknown activity was stored, for at most 8 hours.
        case kept
        /// The request is older than the stored value, so nothing changed.
        case outdated
    }

    /// An accepted action of a user.
    package struct TakenAction: Hashable, Sendable {
        /// `act_` and 16 hexadecimal digits.
        package let id: String
        /// Wall time from which the action must not be carried out any more.
        package let expiresAt: Instant
    }

    package var kind: Kind
    package var lint: [Lint] = []
    /// For a retry: how many pushes are sent again, and how many cannot be.
    package var count = 0
    package var unreachable = 0
    /// For a retry of dead letters: why the `unreachable` ones cannot be sent.
    package var kept: [KeptLetters] = []
    /// For a deleted device: how many ends of its cards wait for a pause or a closed upstream.
    package var endsWaiting = 0
    /// The number of the stored thing, if it has one.
    package var number: Int64?
    /// For an action: its id, and when it expires.
    package var action: TakenAction?
    /// True if this repeats the answer to an earlier request with the same idempotency key.
    package var isReplay = false
    /// For a presence report: what the relay concludes from it.
    package var presence: Presence.Verdict?

    package init(_ kind: Kind, number: Int64? = nil, lint: [Lint] = []) {
        self.kind = kind
        self.number = number
        self.lint = lint
    }
}
