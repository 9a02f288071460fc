/// Changes that become durable together or not at all.
package struct AppendBatch: Sendable {
    package var events: [NewEvent] = []
    /// The new head of each activity in `events`, and of each other activity whose head has
    /// changed.
    package var heads: [ActivityHead] = []
    package var facts: [NewFact] = []
    package var records: [Record] = []
    /// Ended activities that leave memory: their heads are moved after the batch's other changes.
    package var retired: [RetiredActivity] = []
    /// Damaged activities that were started again under new numbers: their old heads are deleted.
    package var replaced: [ActivityNumber] = []
    /// How far the wall clock, from which `recordedAt` comes, is ahead of the monotonic clock,
    /// which decides what history is old; nil: unknown.
    package var lead: Span?

    package init() {}

    package var isEmpty: Bool {
        events.isEmpty && heads.isEmpty && facts.isEmpty && records.isEmpty && retired.isEmpty
            && replaced.isEmpty
    }
}
