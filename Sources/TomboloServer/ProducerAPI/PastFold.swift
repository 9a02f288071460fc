import TomboloAPI
import TomboloCore
import TomboloEventLog

/// Folds an activity's events up to a moment, version by version. If an event cannot be read, the
/// state is unknown until the next start.
struct PastFold {
    private(set) var fold = ActivityFold()
    /// The newest folded event.
    private(set) var last: RecordedEvent?
    private let moment: LogMoment
    /// Why the state after `last` is unknown.
    private var missing: Problem?
    /// True if unreadable rows were found.
    var hasDamage = false

    init(_ moment: LogMoment) { self.moment = moment }

    /// Continues after a stored state.
    mutating func begin(_ known: ActivityFold, after event: RecordedEvent?) {
        (fold, last) = (known, event)
    }

    /// Folds the activity's next event. Returns false if the moment is before it.
    mutating func follow(_ event: RecordedEvent) throws(Problem) -> Bool {
        let isNext = event.version == (last?.version ?? 0) + 1
        guard moment.includes(tenantSeq: event.tenantSeq, recordedAt: event.event.recordedAt) else {
            if !isNext, last != nil, !isAtLast { throw damaged(before: event) }
            try check()
            return false
        }
        if event.event.kind == .start {
            missing = nil
        } else if !isNext {
            // If no row is damaged, the earlier events were deleted because of their age.
            missing =
                last == nil && !hasDamage
                ? Problem(.unknownActivity, "The activity's history of then was cut, as it is old.")
                : damaged(before: event)
        }
        defer { last = event }
        guard missing == nil else { return true }
        if fold.apply(event) != nil {
            throw Problem(.eventDamaged, "Event \(event.tenantSeq) cannot be read. \(Self.remedy)")
        }
        return true
    }

    /// Call it when the activity has no later readable event.
    ///
    /// - Parameter newest: the activity's present version.
    func finish(newest: Int64) throws(Problem) {
        let version = last?.version ?? 0
        if version < newest, last != nil || hasDamage, !isAtLast {
            throw Problem(
                .eventDamaged,
                "The activity's versions \(version + 1) to \(newest) cannot be read: their rows in "
                    + "the log are damaged. "
                    + Self.remedy)
        }
        try check()
    }

    /// True if the moment is exactly that of the newest folded event: missing events come after it.
    private var isAtLast: Bool {
        if case .tenantSeq(let seq) = moment { seq == last?.tenantSeq } else { false }
    }

    private func check() throws(Problem) {
        if let missing { throw missing }
    }

    private func damaged(before event: RecordedEvent) -> Problem {
        let (from, to) = ((last?.version ?? 0) + 1, event.version - 1)
        let what = from == to ? "Version \(from)" : "Versions \(from) to \(to)"
        return Problem(
            .eventDamaged,
            "\(what) of the activity cannot be read: between the events \(last?.tenantSeq ?? 0) and "
                + "\(event.tenantSeq) a row of the log is damaged. \(Self.remedy)")
    }

    private static let remedy =
        "Ask for an earlier moment, or run tombolo log verify, and look into a backup."
}
