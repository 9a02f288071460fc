/// What start-up reads from the log.
package struct CoreRecovery: Sendable {
    package var heads: [PositionedHead] = []
    /// Activities whose newest state the log cannot read or rebuild.
    package var damaged: [DamagedActivity] = []
    /// Activities and records to set aside, with the number of times that earlier relays crashed
    /// while they worked on them.
    package var trapped: [WorkNote.Subject: Int] = [:]
    package var records: [Record] = []
    package var idempotency = RecoveredKeys()
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// The numbers of each tenant's newest event and fact.
    package var places: [TenantID: LogPlace] = [:]
    /// The highest number ever given to an activity, including damaged ones.
    package var lastActivity: Int64 = 0
    /// True if the log has retired activities. `heads` does not contain them.
    package var hasRetired = false
    /// When the log was restored from a backup: phones may have got more than the log knows.
    package var restoredAt: Instant?
    /// How far the wall clock is ahead of the monotonic clock at this start.
    package var lead = Span.zero
    /// The same at earlier times, also under earlier relays.
    package var leads = LeadHistory()
    /// What is known of the last relay's clock; nil if there was no relay before.
    package var before: RelayClock.Predecessor?
    /// The latest wall time that timestamps may have until a newer reading of the clock is durable.
    package var tellsThrough = Instant.distantFuture

    package init() {}

    /// How late the timestamps of earlier relays can be. A restored log does not know the relays
    /// that ran after the backup. They may have used any time until now, and after a reboot of the
    /// machine even later ones, up to the clock's reach.
    func predecessor(at wall: Instant) -> RelayClock.Predecessor? {
        guard let restoredAt, before.map({ $0.reading <= restoredAt }) ?? true else {
            return before
        }
        let told = wall + RelayClock.reach
        return RelayClock.Predecessor(
            reading: wall, toldThrough: max(before?.toldThrough ?? told, told),
            steadyThrough: told - lead, isRestored: true)
    }

    /// The records by number, without those that are set aside, and a text for each of those.
    func known() -> (records: [Record], damage: [String]) {
        var known: [Record] = []
        var damage: [String] = []
        for record in records {
            let name = "record \(record.number) of space \(record.space.rawValue)"
            if !(0..<ActivityNumber.max).contains(record.number) {
                damage.append("\(name) is set aside: no relay gave that number")
            } else if let count = trapped[WorkNote.Subject(record.space, record.number)] {
                damage.append("\(name) is set aside: \(WorkNote.reason(count))")
            } else {
                known.append(record)
            }
        }
        return (known.sorted { $0.number < $1.number }, damage)
    }
}
