package import TomboloCore
package import TomboloEventLog

/// The events that rows of heads do not include yet.
///
/// They were written after the writer's last checkpoint: at most about a hundred thousand.
package struct HeadTail {
    /// For each activity, its events after its head, in order.
    private var events: [Int64: [RecordedEvent]] = [:]
    /// For each activity, its damaged event. The activity is read from the damaged row.
    private var lost: [Int64: (seq: Int64, tenantSeq: Int64)] = [:]
    /// One line for each damaged row.
    private(set) var damage: [String] = []

    package init() {}

    /// Reads the events after sequence `heads`; nil means that all heads are current.
    ///
    /// - Parameter known: for each activity, the sequence of its head: older events are skipped.
    init(
        after heads: Int64?, tenants: Tenants, known: [Int64: Int64] = [:],
        _ engine: any LogReading
    ) throws(EventLogError) {
        guard let heads else { return }
        try engine.scan(.event, after: heads) { seq, row in
            let numbers = EventRow.unproved(row)
            if let numbers, let head = known[numbers.activity], seq <= head { return true }
            if let event = EventRow.event(seq, row, tenants: tenants) {
                add(event)
                return true
            }
            damage.append(EventRow.damageLine(seq, row, tenants: tenants))
            if let numbers {
                lost[numbers.activity] = (seq, EventRow.tenantSeq(numbers, row, at: seq))
            }
            return true
        }
    }

    /// Adds the next event.
    package mutating func add(_ event: RecordedEvent) {
        events[event.event.activity.rawValue, default: []].append(event)
    }

    /// True if the activity has events after its head, undamaged or damaged.
    func has(_ activity: Int64) -> Bool { events[activity] != nil || lost[activity] != nil }

    /// Why a head cannot be brought up to its activity's newest event. `reason` is a clause.
    package struct Gap: Error { package let reason: String }

    /// Returns the head after the activity's newest event.
    package func follow(_ head: RecoveredHead) throws(Gap) -> RecoveredHead {
        let next = events[head.activity.rawValue, default: []].drop { $0.seq <= head.seq }
        if let (seq, tenantSeq) = lost[head.activity.rawValue], seq > head.seq {
            throw Gap(reason: "its event \(tenantSeq) is damaged")
        }
        guard let last = next.last else { return head }
        var before = (seq: head.seq, version: head.version)
        for event in next {
            guard event.previous == before.seq, event.version == before.version + 1 else {
                throw Gap(reason: "its newest events do not follow its head")
            }
            before = (event.seq, event.version)
        }
        let stored = ActivityHead(activity: head.activity, value: head.value)
        guard let value = ActivityHead.following(stored, version: head.version, Array(next))?.value
        else {
            throw Gap(reason: "its events after \(head.tenantSeq) cannot be read")
        }
        return RecoveredHead(
            activity: head.activity, version: last.version, seq: last.seq,
            tenantSeq: last.tenantSeq, value: value)
    }
}
