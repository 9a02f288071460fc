/// An ended activity that leaves memory. The log moves its head to the retired ones.
package struct RetiredActivity: Hashable, Sendable {
    package var activity: ActivityNumber
    /// The activity's id, by which the log finds it within its tenant.
    package var name: Identifier
    package var endedAt: Instant

    package init(activity: ActivityNumber, name: Identifier, endedAt: Instant) {
        self.activity = activity
        self.name = name
        self.endedAt = endedAt
    }
}
