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

    package var kind: Kind
    /// What was seen coming.
    package var lint: [Lint] = []
    /// Of a retry: pushes that go again, and those that nobody is left for.
    package var count = 0
    package var unreachable = 0
    /// Of a retry of dead letters: why the `unreachable` stay.
    package var kept: [KeptLetters] = []
    /// Of something that the relay numbers itself.
    package var number: Int64?

    package init(_ kind: Kind, number: Int64? = nil) {
        self.kind = kind
        self.number = number
    }
}
