package import TomboloCore
package import TomboloEventLog

/// Events that rows of heads do not tell of yet: all behind the place up to which heads are right.
///
/// As many as come between two checkpoints of the writer, a hundred thousand or less.
package struct HeadTail {
    /// The events of one activity that follow its head, in order.
    private var events: [Int64: [RecordedEvent]] = [:]
    /// Damaged events, by the activity that their rows name.
    private var lost: [Int64: (seq: Int64, tenantSeq: Int64)] = [:]
    /// One line for each row that is damaged.
    private(set) var damage: [String] = []

    package init() {}

    /// Reads them; nil where all heads are right.
    ///
    /// - Parameter known: where the heads stand, if much before them has to be passed over.
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

    /// The next event.
    package mutating func add(_ event: RecordedEvent) {
        events[event.event.activity.rawValue, default: []].append(event)
    }

    /// Whether the activity has events here, be its head right or not.
    func has(_ activity: Int64) -> Bool { events[activity] != nil || lost[activity] != nil }

    /// Why a head cannot be followed to its activity's newest event: a clause.
    package struct Gap: Error { package let reason: String }

    /// The head as its newest event leaves it.
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
