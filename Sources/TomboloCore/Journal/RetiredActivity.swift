/// An ended activity whose head the log moves out of what lives.
package struct RetiredActivity: Hashable, Sendable {
    package var activity: ActivityNumber
    /// Under which it is found again, together with its tenant.
    package var name: Identifier
    package var endedAt: Instant

    package init(activity: ActivityNumber, name: Identifier, endedAt: Instant) {
        self.activity = activity
        self.name = name
        self.endedAt = endedAt
    }
}
