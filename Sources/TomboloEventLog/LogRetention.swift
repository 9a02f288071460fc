package import TomboloCore

/// For how long a log keeps history. What lives stays, however old it is; keys stay their day.
package struct LogRetention: Hashable, Sendable {
    /// Events, and activities that ended, go when they are older.
    package var history: Span
    /// Outcomes, tokens and the like: they are many, and soon of no use.
    package var facts: Span
    /// The oldest facts go too when all of them take more bytes, so that a busy week does not fill
    /// the disk.
    package var factBytes: Int

    /// A shorter history would take events away from under their idempotency keys.
    package static let historyMin = Span.hours(48)
    /// Nothing goes.
    package static let forever = LogRetention(
        history: Span(nanoseconds: .max), facts: Span(nanoseconds: .max))
    /// A month of history, a week of facts, and 4 GiB of these: some ten million.
    package static let standard = LogRetention(
        history: .hours(720), facts: .hours(168), factBytes: 4 << 30)
    /// Facts go by the 16,384: with fewer bytes there would be next to none.
    package static let factBytesMin = 64 << 20

    /// `history` is at least `historyMin`.
    package init(history: Span, facts: Span, factBytes: Int = .max) {
        self.history = max(history, Self.historyMin)
        self.facts = facts
        self.factBytes = factBytes
    }
}
