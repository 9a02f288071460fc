/// Changes that become durable together or not at all.
package struct AppendBatch: Sendable {
    package var events: [NewEvent] = []
    /// One head for each activity that `events` touch, and for each other one whose head changed.
    package var heads: [ActivityHead] = []
    package var facts: [NewFact] = []
    package var records: [Record] = []
    /// Ended activities whose heads move out of the live ones after the batch's other changes.
    package var retired: [RetiredActivity] = []
    /// Damaged activities that others have replaced: the rest of their heads is deleted.
    package var replaced: [ActivityNumber] = []
    /// How far the wall clock, the source of `recordedAt`, is ahead of the monotonic clock, by
    /// which history is kept; nil: unknown.
    package var lead: Span?

    package init() {}

    package var isEmpty: Bool {
        events.isEmpty && heads.isEmpty && facts.isEmpty && records.isEmpty && retired.isEmpty
            && replaced.isEmpty
    }
}
