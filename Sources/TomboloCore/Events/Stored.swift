/// What became of something that is no event.
package struct Stored: Hashable, Sendable {
    /// Whether it is new, changed, gone, or stays as it was.
    package enum Kind: Hashable, Sendable {
        case created, updated, deleted
        /// A token for an activity that is not known: kept for 8 hours.
        case kept
        /// Older than what is known: nothing changed.
        case outdated
    }

    /// What a person did, as the relay names it.
    package struct TakenAction: Hashable, Sendable {
        /// `act_` and 16 hexadecimal digits.
        package let id: String
        /// By wall time: nobody acts on it from then on.
        package let expiresAt: Instant

        /// One that was taken.
        package init(id: String, expiresAt: Instant) {
            (self.id, self.expiresAt) = (id, expiresAt)
        }
    }

    package var kind: Kind
    /// What was seen coming.
    package var lint: [Lint] = []
    /// Of a retry: pushes that go again, and those that nobody is left for.
    package var count = 0
    package var unreachable = 0
    /// Of a retry of dead letters: why the `unreachable` stay.
    package var kept: [KeptLetters] = []
    /// Of a device that is deleted: ends of cards that a pause or a closed upstream holds back.
    package var endsWaiting = 0
    /// Of something that the relay numbers itself.
    package var number: Int64?
    /// Of an action: its id, and until when somebody acts on it.
    package var action: TakenAction?
    /// An earlier request with the same idempotency key was answered the same.
    package var isReplay = false
    /// Of a report of presence: what it came to.
    package var presence: Presence.Verdict?

    package init(_ kind: Kind, number: Int64? = nil, lint: [Lint] = []) {
        self.kind = kind
        self.number = number
        self.lint = lint
    }
}
