import TomboloCore

/// Heads whose rows are written later: under load one row then stands for many changes, and what
/// the log writes is little more than its events.
///
/// Each can be made again from the head that has a row and the events after it; recovery does.
/// What a transaction changes counts when it is durable (`settle`).
struct LaterHeads {
    /// With so many of them, or so many bytes, they are written: a start-up reads what came since.
    static let countMax = 8_192
    static let bytesMax = 8 << 20

    private var values = NumberTable<HeadValue>(empty: HeadValue([]))
    private var bytes = 0
    /// nil: it has a row again.
    private var staged: [(activity: Int64, value: HeadValue?)] = []

    /// Whether every row of a head is that activity's newest.
    var isEmpty: Bool { values.count == 0 }

    var areMany: Bool { values.count >= Self.countMax || bytes >= Self.bytesMax }

    /// As recovery has made it.
    mutating func recover(_ head: ActivityHead) { set(head.activity.rawValue, head.content) }

    /// The newest head of the activity, if its row waits.
    func value(_ activity: Int64) -> HeadValue? {
        if let newest = staged.last(where: { $0.activity == activity }) { return newest.value }
        return values[activity]
    }

    mutating func put(_ head: ActivityHead) {
        staged.append((head.activity.rawValue, head.content))
    }

    /// Its row is written now.
    mutating func remove(_ activity: Int64) {
        guard !isEmpty || !staged.isEmpty else { return }
        staged.append((activity, nil))
    }

    /// All that wait, in the order of their numbers.
    var all: [ActivityHead] {
        var all: [ActivityHead] = []
        all.reserveCapacity(values.count)
        values.forEach { all.append(ActivityHead(activity: ActivityNumber($0), content: $1)) }
        return all.sorted { $0.activity < $1.activity }
    }

    var savepoint: Int { staged.count }

    mutating func takeBack(to savepoint: Int) { staged.removeLast(staged.count - savepoint) }

    mutating func settle() {
        for (activity, value) in staged { set(activity, value) }
        staged.removeAll(keepingCapacity: true)
    }

    private mutating func set(_ activity: Int64, _ value: HeadValue?) {
        bytes += (value?.sizeEstimate ?? 0) - (values[activity]?.sizeEstimate ?? 0)
        values[activity] = value
    }
}
