import TomboloCore
import TomboloEventLog

/// The position (version and sequence) of each activity. It is checked before a row is written.
///
/// Changes can be undone until `settle()`, for a batch that is refused or a transaction that is
/// rolled back.
struct ActivityMarks {
    struct Mark: Equatable {
        var version: Int64 = 0
        /// Sequence of its newest event; 0 if it has none.
        var seq: Int64 = 0
        /// Place of its newest event among the tenant's events.
        var tenantSeq: Int64 = 0
        /// Number of its tenant; 0 if it has no event yet.
        var tenant: Int64 = 0
        /// True if its head has a row, written in this transaction or earlier.
        var hasHead = false
        /// True if its next head is stored as a snapshot too.
        var needsSnapshot = false
        /// Sequence of its newest snapshot; 0 if it has none.
        var anchor: Int64 = 0

        /// `anchor` has this value until it is looked up.
        static let unknownAnchor: Int64 = -1
    }

    private var marks = NumberTable(empty: Mark())
    /// The highest activity number ever assigned.
    var highest: Int64 = 0
    private var undo: [(activity: Int64, mark: Mark?)] = []
    /// Activities whose position is unknown because their head's row is damaged.
    private var damaged: Set<Int64> = []

    mutating func recover(_ activity: Int64, _ mark: Mark) { marks[activity] = mark }

    mutating func setAside(_ activity: Int64) { damaged.insert(activity) }

    func mark(_ activity: Int64) -> Mark { marks[activity] ?? Mark() }

    /// True if the activity is neither live nor new: it has retired, or its number was never used.
    func mayHaveRetired(_ activity: Int64) -> Bool {
        activity <= highest && marks[activity] == nil
    }

    /// Sets an activity's position; nil removes the activity from the live ones.
    mutating func set(_ activity: Int64, _ mark: Mark?) {
        undo.append((activity, marks[activity]))
        marks[activity] = mark
    }

    /// Moves the activity on to its next event, at `seq` and `tenantSeq`. Returns its previous
    /// position. `anchor` finds the newest snapshot up to an event.
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

    /// Notes that the activity's head gets its row. Returns the position, with `hasHead` as before.
    mutating func giveHead(_ activity: Int64) -> Mark {
        let mark = mark(activity)
        if !mark.hasHead {
            var given = mark
            given.hasHead = true
            set(activity, given)
        }
        return mark
    }

    /// Notes that the activity's newest event now has a snapshot.
    mutating func giveSnapshot(_ activity: Int64) {
        guard var mark = marks[activity] else { return }
        (mark.needsSnapshot, mark.anchor) = (false, mark.seq)
        set(activity, mark)
    }

    /// A value for `takeBack(to:)`: undoes the changes after it.
    var savepoint: Int { undo.count }

    mutating func takeBack(to savepoint: Int) {
        while undo.count > savepoint, let (activity, mark) = undo.popLast() {
            marks[activity] = mark
        }
    }

    /// Call it when the changes are durable.
    mutating func settle() { undo.removeAll(keepingCapacity: true) }
}
