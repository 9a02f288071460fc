import TomboloAPI
import TomboloCore
import TomboloEventLog

/// An activity's events followed up to a moment, one version after the other. An event that cannot
/// be read is missing: what is after it is not known until the next start.
struct PastFold {
    private(set) var fold = ActivityFold()
    /// The newest event that it has followed.
    private(set) var last: RecordedEvent?
    private let moment: LogMoment
    /// Why what is after `last` is not known.
    private var missing: Problem?
    /// Rows were met that cannot be read.
    var hasDamage = false

    init(_ moment: LogMoment) { self.moment = moment }

    /// Goes on after a state that was kept.
    mutating func begin(_ known: ActivityFold, after event: RecordedEvent?) {
        (fold, last) = (known, event)
    }

    /// Follows the activity's next event. False where the moment is before it.
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
            // Without damage the events before were cut, as they are old.
            missing =
                last == nil && !hasDamage
                ? Problem(
                    .unknownActivity, "The activity's history of then was cut, as it is old.")
                : damaged(before: event)
        }
        defer { last = event }
        guard missing == nil else { return true }
        if fold.apply(event) != nil {
            throw Problem(
                .eventDamaged, "Event \(event.tenantSeq) cannot be read. \(Self.remedy)")
        }
        return true
    }

    /// The activity has no later event that can be read.
    ///
    /// - Parameter newest: its version as it is.
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

    /// Whether the moment is that of the newest event followed: what is missing comes after it.
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
