/// What becomes durable together, or not at all.
package struct AppendBatch: Sendable {
    package var events: [NewEvent] = []
    /// One for each activity that `events` touch, and for any other whose head changed.
    package var heads: [ActivityHead] = []
    package var facts: [NewFact] = []
    package var records: [Record] = []
    /// Ended activities whose heads leave what lives, after all that the batch does to them.
    package var retired: [RetiredActivity] = []
    /// Damaged activities in whose place others have begun: what is left of their heads goes.
    package var replaced: [ActivityNumber] = []
    /// By how much the wall clock, which sets `recordedAt`, is ahead of one that nobody sets;
    /// nil where nobody knows. History is kept by the latter.
    package var lead: Span?

    package init() {}

    package var isEmpty: Bool {
        events.isEmpty && heads.isEmpty && facts.isEmpty && records.isEmpty && retired.isEmpty
            && replaced.isEmpty
    }
}
