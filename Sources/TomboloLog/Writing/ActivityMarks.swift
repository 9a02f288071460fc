import TomboloCore
import TomboloEventLog

/// Where each activity stands: checked here, in memory, before a row is written.
///
/// Changes can be taken back until `settle()`: a batch that is refused in its middle, a transaction
/// that was rolled back.
struct ActivityMarks {
    struct Mark: Equatable {
        var version: Int64 = 0
        /// The sequence of its newest event; 0 where it has none.
        var seq: Int64 = 0
        /// The same among the events of its tenant.
        var tenantSeq: Int64 = 0
        /// 0 where it has no event yet.
        var tenant: Int64 = 0
        /// Its head has a row, in this transaction or before.
        var hasHead = false
        /// Its next head is kept as a snapshot too.
        var needsSnapshot = false
        /// Where its newest snapshot stands; 0 where it has none.
        var anchor: Int64 = 0

        /// In place of `anchor`, until somebody has looked.
        static let unknownAnchor: Int64 = -1
    }

    private var marks = NumberTable(empty: Mark())
    /// The highest number that any activity ever took.
    var highest: Int64 = 0
    private var undo: [(activity: Int64, mark: Mark?)] = []
    /// Their head's row is damaged: nobody knows where they stand.
    private var damaged: Set<Int64> = []

    mutating func recover(_ activity: Int64, _ mark: Mark) { marks[activity] = mark }

    mutating func setAside(_ activity: Int64) { damaged.insert(activity) }

    func mark(_ activity: Int64) -> Mark { marks[activity] ?? Mark() }

    /// Whether it is neither alive nor new: it has retired, or never was.
    func mayHaveRetired(_ activity: Int64) -> Bool {
        activity <= highest && marks[activity] == nil
    }

    /// It lives again, and stood at `mark`; nil: it has left what lives.
    mutating func set(_ activity: Int64, _ mark: Mark?) {
        undo.append((activity, marks[activity]))
        marks[activity] = mark
    }

    /// Moves the activity on to its next event, at `seq` and `tenantSeq`, and answers where it
    /// stood. `anchor` finds the newest snapshot up to an event.
    mutating func advance(
        _ activity: ActivityNumber, expectedVersion: Int64, tenant: Int64, seq: Int64,
        tenantSeq: Int64, anchor: (Int64) -> Int64
    ) throws(EventLogError) -> Mark {
        let number = activity.rawValue
        if !damaged.isEmpty, damaged.contains(number) {
            throw .unusable(
                cause: "the newest state of activity \(number) is damaged",
                hint: "start it anew under another id, or restore a backup")
        }
        let old = marks[number]
        var mark = old ?? Mark()
        precondition(
            mark.tenant == 0 || mark.tenant == tenant, "an activity belongs to one tenant for ever")
        guard mark.version == expectedVersion else {
            throw .versionConflict(
                activity: activity, expected: expectedVersion, actual: mark.version)
        }
        undo.append((number, old))
        highest = max(highest, number)
        if mark.anchor == Mark.unknownAnchor { mark.anchor = anchor(mark.seq) }
        marks[number] = Mark(
            version: mark.version + 1, seq: seq, tenantSeq: tenantSeq, tenant: tenant,
            hasHead: mark.hasHead,
            needsSnapshot: mark.needsSnapshot || SnapshotRow.isDue(at: mark.version + 1),
            anchor: mark.anchor)
        return mark
    }

    /// Where the activity stands, whose head is about to get its row; `hasHead` is as before.
    mutating func giveHead(_ activity: Int64) -> Mark {
        let mark = mark(activity)
        if !mark.hasHead {
            var given = mark
            given.hasHead = true
            set(activity, given)
        }
        return mark
    }

    /// Its newest event has a snapshot now.
    mutating func giveSnapshot(_ activity: Int64) {
        guard var mark = marks[activity] else { return }
        (mark.needsSnapshot, mark.anchor) = (false, mark.seq)
        set(activity, mark)
    }

    /// For `takeBack(to:)`.
    var savepoint: Int { undo.count }

    mutating func takeBack(to savepoint: Int) {
        while undo.count > savepoint, let (activity, mark) = undo.popLast() {
            marks[activity] = mark
        }
    }

    /// What was changed is durable.
    mutating func settle() { undo.removeAll(keepingCapacity: true) }
}
