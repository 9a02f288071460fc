/// An ended activity whose head the log moves out of the live ones.
package struct RetiredActivity: Hashable, Sendable {
    package var activity: ActivityNumber
    /// The id by which it is found again, within its tenant.
    package var name: Identifier
    package var endedAt: Instant

    package init(activity: ActivityNumber, name: Identifier, endedAt: Instant) {
        self.activity = activity
        self.name = name
        self.endedAt = endedAt
    }
}
