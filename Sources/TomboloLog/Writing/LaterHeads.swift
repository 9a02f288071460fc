import TomboloCore

/// Heads whose rows are written later. Under load one row then replaces many, so the log writes
/// little more than its events. Recovery rebuilds each head from its last row and the events after
/// it. A transaction's changes take effect when they are durable (`settle`).
struct LaterHeads {
    /// If there are this many heads or bytes, they are written. The limit exists because start-up
    /// must read all events since the last write.
    static let countMax = 8_192
    static let bytesMax = 8 << 20

    private var values = NumberTable<HeadContent>(empty: HeadContent([]))
    private var bytes = 0
    /// Changes of the open transaction. A nil value means that the head has a current row again.
    private var pending: [(activity: Int64, value: HeadContent?)] = []

    /// True if every head has a current row.
    var isEmpty: Bool { values.count == 0 }

    var areMany: Bool { values.count >= Self.countMax || bytes >= Self.bytesMax }

    /// Adds a head that recovery has rebuilt.
    mutating func recover(_ head: ActivityHead) { set(head.activity.rawValue, head.content) }

    /// The newest head of the activity if its row is delayed, else nil.
    func value(_ activity: Int64) -> HeadContent? {
        if let newest = pending.last(where: { $0.activity == activity }) { return newest.value }
        return values[activity]
    }

    mutating func put(_ head: ActivityHead) {
        pending.append((head.activity.rawValue, head.content))
    }

    /// Removes a head because its row is written now.
    mutating func remove(_ activity: Int64) {
        guard !isEmpty || !pending.isEmpty else { return }
        pending.append((activity, nil))
    }

    /// All delayed heads, in the order of activity numbers.
    var all: [ActivityHead] {
        var all: [ActivityHead] = []
        all.reserveCapacity(values.count)
        values.forEach { all.append(ActivityHead(activity: ActivityNumber($0), content: $1)) }
        return all.sorted { $0.activity < $1.activity }
    }

    var savepoint: Int { pending.count }

    mutating func takeBack(to savepoint: Int) { pending.removeLast(pending.count - savepoint) }

    mutating func settle() {
        for (activity, value) in pending { set(activity, value) }
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func set(_ activity: Int64, _ value: HeadContent?) {
        bytes += (value?.sizeEstimate ?? 0) - (values[activity]?.sizeEstimate ?? 0)
        values[activity] = value
    }
}
