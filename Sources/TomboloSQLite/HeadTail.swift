import TomboloCore
import TomboloEventLog

/// Events that rows of heads do not tell of yet: all behind the place up to which heads are right.
///
/// As many as come between two checkpoints of the writer, a hundred thousand or less.
struct HeadTail {
    /// The events of one activity that follow its head, in order.
    private var events: [Int64: [RecordedEvent]] = [:]
    /// One line for each row that is damaged.
    private(set) var damage: [String] = []

    /// None.
    init() {}

    /// Reads them; nil where all heads are right.
    init(
        after heads: Int64?, tenants: Tenants, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        guard let heads else { return }
        let rows = try connection.prepare(
            "SELECT \(EventRow.columns) FROM event WHERE seq > ?1 ORDER BY seq")
        rows.bind(heads, at: 1)
        while try rows.step() {
            guard let event = EventRow.event(rows, tenants: tenants) else {
                damage.append(
                    "event \(rows.integer(0)): its row is damaged; its activity goes on without it")
                continue
            }
            events[event.event.activity.rawValue, default: []].append(event)
        }
    }

    /// Whether the activity has events here, be its head right or not.
    func has(_ activity: Int64) -> Bool { events[activity] != nil }

    /// The head as its newest event leaves it. nil where an event is missing or cannot be followed.
    func follow(_ head: RecoveredHead) -> RecoveredHead? {
        let next = events[head.activity.rawValue, default: []].drop { $0.seq <= head.seq }
        guard let last = next.last else { return head }
        var before = (seq: head.seq, version: head.version)
        for event in next {
            guard event.previous == before.seq, event.version == before.version + 1 else {
                return nil
            }
            before = (event.seq, event.version)
        }
        let stored = ActivityHead(activity: head.activity, value: head.value)
        guard let value = ActivityHead.following(stored, version: head.version, Array(next))?.value
        else { return nil }
        return RecoveredHead(
            activity: head.activity, version: last.version, seq: last.seq, value: value)
    }
}
