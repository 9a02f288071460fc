package import TomboloCore

/// What is to be erased from a log.
package struct LogErasure: Hashable, Sendable {
    /// Of what or whom.
    package enum Subject: Hashable, Sendable {
        /// All that the activity's events, facts and heads say.
        case activity(ActivityNumber)
        /// All that names the device: activities for it alone are erased whole; of others the
        /// starts that name it; facts about it. What is left of a life whose start history has
        /// cut names nobody: it stays until history cuts it too.
        case device(Identifier)
    }

    package var tenant: TenantID
    package var subject: Subject
    /// Only counts what there is to erase.
    package var isTrial = false

    package init(_ subject: Subject, of tenant: TenantID) {
        self.tenant = tenant
        self.subject = subject
    }
}

/// What was erased.
package struct LogErased: Hashable, Sendable {
    /// Events that are tombstones now.
    package var events = 0
    package var facts = 0
    /// Activities of which nothing but their numbers is left.
    package var activities = 0
    /// Whether it is gone from the file too. Where another program reads the log, the bytes stay in
    /// the write-ahead log until it is done. A server keeps them: see `LogWriting.keepsDeleted`.
    package var isOutOfFile = true

    /// Whether there was nothing to erase.
    package var isNothing: Bool { events == 0 && facts == 0 && activities == 0 }

    package init() {}
}
