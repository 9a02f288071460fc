/// The data that start-up reads from the log.
package struct CoreRecovery: Sendable {
    package var heads: [PlacedHead] = []
    /// Activities whose state the log cannot rebuild.
    package var damaged: [DamagedActivity] = []
    /// Subjects that made earlier relays trap, with counts: they are left out.
    package var trapped: [WorkNote.Subject: Int] = [:]
    package var records: [Record] = []
    package var idempotency = RecoveredKeys()
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// The newest event and fact of each tenant, among its own.
    package var places: [TenantID: LogPlace] = [:]
    /// The highest number ever given to an activity, including damaged ones.
    package var lastActivity: Int64 = 0
    /// True if the log has retired activities, which are not among the heads.
    package var hasRetired = false
    /// When the log was restored from a backup: phones may have had more than it knows.
    package var restoredAt: Instant?
    /// The clock's lead at this start.
    package var lead = Span.zero
    /// The leads of earlier relays and of this one.
    package var leads = LeadHistory()
    /// How far the machine's clock was set forward since the last relay; negative: back. The cards'
    /// age does not change.
    package var clockStep = Span.zero
    /// The last relay's clock; nil if there was none.
    package var before: RelayClock.Predecessor?
    /// The latest wall time for timestamps until a newer reading of the clock is recorded.
    package var tellsThrough = Instant.distantFuture

    package init() {}

    /// How far timestamps can have come. A restored log does not know the relays that ran since the
    /// backup: they may have used any time until now, and after a reboot of the machine as much
    /// more as the clock's reach allows.
    func predecessor(at wall: Instant) -> RelayClock.Predecessor? {
        guard let restoredAt, before.map({ $0.reading <= restoredAt }) ?? true else {
            return before
        }
        let told = wall + RelayClock.reach
        return RelayClock.Predecessor(
            reading: wall, toldThrough: max(before?.toldThrough ?? told, told))
    }

    /// Records in the order of their numbers, without those that are left out.
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
