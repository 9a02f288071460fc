package import TomboloCore

/// How long a log keeps history. Live activities are always kept. Idempotency keys stay for a day.
package struct LogRetention: Hashable, Sendable {
    /// Age at which events and ended activities are deleted.
    package var history: Span
    /// Age at which facts (outcomes, tokens and others) are deleted. There are many, and they are
    /// of little use after some days.
    package var facts: Span
    /// Maximum bytes of all facts. If there are more, the oldest are deleted, so that a busy week
    /// does not fill the disk.
    package var factBytes: Int

    /// Shortest allowed history. With a shorter one, events would be deleted while their
    /// idempotency keys count.
    package static let historyMin = Span.hours(48)
    /// Nothing is deleted.
    package static let forever = LogRetention(
        history: Span(nanoseconds: .max), facts: Span(nanoseconds: .max))
    /// History for a month, facts for a week, and at most 4 GiB of facts, about ten million.
    package static let standard = LogRetention(
        history: .hours(720), facts: .hours(168), factBytes: 4 << 30)
    /// Smallest allowed `factBytes`. Facts are deleted 16,384 at a time; with a lower limit almost
    /// none would remain.
    package static let factBytesMin = 64 << 20

    /// A `history` below `historyMin` is raised to it.
    package init(history: Span, facts: Span, factBytes: Int = .max) {
        self.history = max(history, Self.historyMin)
        self.facts = facts
        self.factBytes = factBytes
    }
}
