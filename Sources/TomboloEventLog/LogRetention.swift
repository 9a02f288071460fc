package import TomboloCore

/// How long a log keeps history. Live activities stay, however old they are; keys stay for a day.
package struct LogRetention: Hashable, Sendable {
    /// Age at which events and ended activities are deleted.
    package var history: Span
    /// Age at which facts (outcomes, tokens and others) are deleted. They are many and soon
    /// useless.
    package var facts: Span
    /// Most bytes of all facts. Beyond this the oldest are deleted, so that a busy week does not
    /// fill the disk.
    package var factBytes: Int

    /// Shortest history. A shorter one would delete events while their idempotency keys count.
    package static let historyMin = Span.hours(48)
    /// Nothing is deleted.
    package static let forever = LogRetention(
        history: Span(nanoseconds: .max), facts: Span(nanoseconds: .max))
    /// A month of history, a week of facts, and 4 GiB of facts: about ten million.
    package static let standard = LogRetention(
        history: .hours(720), facts: .hours(168), factBytes: 4 << 30)
    /// Smallest `factBytes`. Facts are deleted 16,384 at a time; with a lower limit almost none
    /// would be left.
    package static let factBytesMin = 64 << 20

    /// `history` is at least `historyMin`.
    package init(history: Span, facts: Span, factBytes: Int = .max) {
        self.history = max(history, Self.historyMin)
        self.facts = facts
        self.factBytes = factBytes
    }
}
