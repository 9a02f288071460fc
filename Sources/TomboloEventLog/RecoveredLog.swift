package import TomboloCore

/// A head that was read from the log: its position and its encoded bytes.
package struct RecoveredHead: Hashable, Sendable {
    package var activity: ActivityNumber
    package var version: Int64
    /// Sequence of the activity's newest event: in the log, and among the tenant's events.
    package var seq: Int64
    package var tenantSeq: Int64
    package var value: [UInt8]

    /// - Parameter tenantSeq: nil means that it equals `seq`, because the log had one tenant only.
    package init(
        activity: ActivityNumber, version: Int64, seq: Int64, tenantSeq: Int64? = nil,
        value: [UInt8]
    ) {
        self.activity = activity
        self.version = version
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.value = value
    }
}

/// The state from which a relay continues. Its size depends on live activities, not on history.
package struct RecoveredLog: Sendable {
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// Place of each tenant's newest event and fact, among the tenant's own.
    package var places: [TenantID: LogPlace] = [:]
    /// The highest activity number with a head, even a damaged one. Higher numbers are free.
    package var lastActivity: Int64 = 0
    package var heads: [RecoveredHead] = []
    /// Activities whose newest state cannot be read. They accept no more events.
    package var damaged: [DamagedActivity] = []
    /// When this log was restored from a backup; nil if never. Events between backup and restore
    /// are missing in the log, but phones may have received them.
    package var restoredAt: Instant?
    /// True if there are retired activities. Look them up by name or number.
    package var hasRetired = false
    package var records: [Record] = []
    /// Idempotency keys of the last 24 hours, grouped by hour.
    package var idempotency = RecoveredKeys()
    /// One line for each other damaged row. Such rows are not used.
    package var damage: [String] = []

    package init() {}
}
