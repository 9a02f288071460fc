package import TomboloCore

/// A request to erase data from a log.
package struct LogErasure: Hashable, Sendable {
    /// Whose data is erased.
    package enum Subject: Hashable, Sendable {
        /// All content of the activity's events, facts and heads.
        case activity(ActivityNumber)
        /// All data that names the device. Activities for it alone are erased whole; of other
        /// activities, the starts that name it are; facts about it are. Events without a start,
        /// because history was cut, name nobody and stay until history cuts them.
        case device(Identifier)
    }

    package var tenant: TenantID
    package var subject: Subject
    /// True if the rows to erase are only counted.
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
    /// Number of activities of which only the number is left.
    package var activities = 0
    /// True if the data has left the files too. While another program reads the log, the bytes stay
    /// in the write-ahead log. A database server keeps them: see `LogWriting.keepsDeleted`.
    package var isOutOfFile = true

    /// True if there was nothing to erase.
    package var isNothing: Bool { events == 0 && facts == 0 && activities == 0 }

    package init() {}
}
