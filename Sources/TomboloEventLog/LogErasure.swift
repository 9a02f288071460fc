package import TomboloCore

/// A request to erase data from a log.
package struct LogErasure: Hashable, Sendable {
    /// Whose data is erased.
    package enum Subject: Hashable, Sendable {
        /// Erase all content of the activity's events, facts and heads.
        case activity(ActivityNumber)
        /// Erase all data that names the device. If the device is the only one in an activity's
        /// audience, the whole activity is erased. In other activities only the starts that name
        /// the device are erased. Facts about the device are erased too. Events whose start was
        /// already cut do not say for whom they are; they stay until they are cut.
        case device(Identifier)
    }

    package var tenant: TenantID
    package var subject: Subject
    /// True if the rows are only counted, not erased.
    package var isTrial = false

    package init(_ subject: Subject, of tenant: TenantID) {
        self.tenant = tenant
        self.subject = subject
    }
}

/// Result of an erasure.
package struct LogErased: Hashable, Sendable {
    /// Number of events that became tombstones.
    package var events = 0
    package var facts = 0
    /// How many activities were erased whole. The log keeps only their `ActivityNumber`.
    package var activities = 0
    /// True if the bytes have left the files too. While another program reads the log, they stay in
    /// the write-ahead log. A database server keeps them: see `LogWriting.keepsDeleted`.
    package var isOutOfFile = true

    /// True if there was nothing to erase.
    package var isNothing: Bool { events == 0 && facts == 0 && activities == 0 }

    package init() {}
}
