import TomboloCore
import TomboloEventLog

/// The position (version and sequence) of each activity. It is checked before a row is written.
///
/// Changes can be undone until `settle()`, for a batch that is refused or a transaction that is
/// rolled back.
struct ActivityPositions {
    private var positions = NumberTable(empty: ActivityPosition())
    /// The highest activity number ever assigned.
    var highest: Int64 = 0
    private var undo: [(activity: Int64, position: ActivityPosition?)] = []
    /// Activities whose position is unknown because their head's row is damaged.
    private var damaged: Set<Int64> = []

    mutating func recover(_ activity: Int64, _ position: ActivityPosition) {
        positions[activity] = position
    }

    mutating func setAside(_ activity: Int64) { damaged.insert(activity) }

    func position(_ activity: Int64) -> ActivityPosition {
        positions[activity] ?? ActivityPosition()
    }

    /// True if the activity is neither live nor new: it has retired, or its number was never used.
    func mayHaveRetired(_ activity: Int64) -> Bool {
        activity <= highest && positions[activity] == nil
    }

    /// Sets an activity's position; nil removes the activity from the live ones.
    mutating func set(_ activity: Int64, _ position: ActivityPosition?) {
        undo.append((activity, positions[activity]))
        positions[activity] = position
    }

    /// Moves the activity on to its next event, at `seq` and `tenantSeq`. Returns its previous
    /// position. `anchor` finds the newest snapshot up to an event.
    mutating func advance(
        _ activity: ActivityNumber, expectedVersion: Int64, tenant: Int64, seq: Int64,
        tenantSeq: Int64, anchor: (Int64) -> Int64
    ) throws(EventLogError) -> ActivityPosition {
        let number = activity.rawValue
        if !damaged.isEmpty, damaged.contains(number) {
            throw .unusable(
                cause: "the newest state of activity \(number) is damaged",
                hint: "start it again under another id, or restore a backup")
        }
        let old = positions[number]
        var position = old ?? ActivityPosition()
        precondition(
            position.tenant == 0 || position.tenant == tenant,
            "an activity belongs to one tenant for ever")
        guard position.version == expectedVersion else {
            throw .versionConflict(
                activity: activity, expected: expectedVersion, actual: position.version)
        }
        undo.append((number, old))
        highest = max(highest, number)
        if position.anchor == ActivityPosition.unknownAnchor {
            position.anchor = anchor(position.seq)
        }
        positions[number] = ActivityPosition(
            version: position.version + 1, seq: seq, tenantSeq: tenantSeq, tenant: tenant,
            hasHead: position.hasHead,
            needsSnapshot: position.needsSnapshot || SnapshotRow.isDue(at: position.version + 1),
            anchor: position.anchor)
        return position
    }

    /// Notes that the activity's head gets its row. Returns the position, with `hasHead` as before.
    mutating func giveHead(_ activity: Int64) -> ActivityPosition {
        let position = position(activity)
        if !position.hasHead {
            var given = position
            given.hasHead = true
            set(activity, given)
        }
        return position
    }

    /// Notes that the activity's newest event now has a snapshot.
    mutating func giveSnapshot(_ activity: Int64) {
        guard var position = positions[activity] else { return }
        (position.needsSnapshot, position.anchor) = (false, position.seq)
        set(activity, position)
    }

    /// A value for `takeBack(to:)`: undoes the changes after it.
    var savepoint: Int { undo.count }

    mutating func takeBack(to savepoint: Int) {
        while undo.count > savepoint, let (activity, position) = undo.popLast() {
            positions[activity] = position
        }
    }

    /// Call it when the changes are durable.
    mutating func settle() { undo.removeAll(keepingCapacity: true) }
}
