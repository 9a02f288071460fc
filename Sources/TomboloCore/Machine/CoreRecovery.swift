/// What start-up found.
package struct CoreRecovery: Sendable {
    package var heads: [PlacedHead] = []
    /// Activities that the log cannot follow.
    package var damaged: [DamagedActivity] = []
    /// What relays before trapped over, and how often: it is left out.
    package var trapped: [WorkNote.Subject: Int] = [:]
    package var records: [Record] = []
    package var idempotency = RecoveredKeys()
    package var lastSeq: Int64 = 0
    package var lastFactSeq: Int64 = 0
    /// The newest event and fact of each tenant, among its own.
    package var places: [TenantID: LogPlace] = [:]
    /// The highest number that an activity ever took, damaged ones included.
    package var lastActivity: Int64 = 0
    /// The log keeps activities that ended long ago and are not among the heads.
    package var hasRetired = false
    /// When the log was put back from a backup: phones may have had more than it knows of.
    package var restoredAt: Instant?
    /// Of the relay's clock at this start.
    package var lead = Span.zero
    /// The leads of the relays before, and this one.
    package var leads = LeadHistory()
    /// By how much the machine's clock was set forward since the relay before; negative: back.
    /// Cards of before are as old as they were.
    package var clockStep = Span.zero
    /// The clock of the relay before; nil where there was none.
    package var before: RelayClock.Predecessor?
    /// What the reading of the clock on record allows until there is a newer one.
    package var tellsThrough = Instant.distantFuture

    package init() {}

    /// How far timestamps can have come. A log that was put back knows nothing of the relays that
    /// ran since the backup: they may have used any time until now, and after another boot of the
    /// machine what the clock's reach allows beyond it.
    func predecessor(at wall: Instant) -> RelayClock.Predecessor? {
        guard let restoredAt, before.map({ $0.reading <= restoredAt }) ?? true else {
            return before
        }
        let told = wall + RelayClock.reach
        return RelayClock.Predecessor(
            reading: wall, toldThrough: max(before?.toldThrough ?? told, told))
    }

    /// Records in the order of their numbers, but for those that are left out.
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
