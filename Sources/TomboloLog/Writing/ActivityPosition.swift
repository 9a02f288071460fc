/// Where the log has got to with one activity: its version and the sequence of its newest event,
/// and what the log still has to write for it.
struct ActivityPosition: Equatable {
    var version: Int64 = 0
    /// Sequence of its newest event; 0 if it has none.
    var seq: Int64 = 0
    /// Place of its newest event among the tenant's events.
    var tenantSeq: Int64 = 0
    /// Number of its tenant; 0 if it has no event yet.
    var tenant: Int64 = 0
    /// True if its head has a row, written in this transaction or earlier.
    var hasHead = false
    /// True if its next head is stored as a snapshot too.
    var needsSnapshot = false
    /// Sequence of its newest snapshot; 0 if it has none.
    var anchor: Int64 = 0

    /// `anchor` has this value until it is looked up.
    static let unknownAnchor: Int64 = -1
}
