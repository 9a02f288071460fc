package import TomboloCore
import TomboloEventLog

// Bodies and heads as the core has them: what a log that writes heads later makes again.

extension Sample {
    /// A start's body.
    package static func start(_ state: String, devices: [String] = []) -> String {
        guard !devices.isEmpty else { return #"{"type":"T","state":\#(state)}"# }
        let names = devices.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"type":"T","audience":{"devices":[\#(names)]},"state":\#(state)}"#
    }

    /// The head that stands after a start.
    package static func head(
        _ activity: Int64, named name: String, _ start: NewEvent, incarnation: Int64 = 1,
        devices: [String] = [], state: String
    ) -> ActivityHead {
        let names = devices.map { "\"\($0)\"" }.joined(separator: ",")
        let audience = devices.isEmpty ? "" : #""devices":[\#(names)],"#
        let time = start.recordedAt.nanoseconds
        let text = """
            {"id":"\(name)","tenant":"\(start.tenant.name)","incarnation":\(incarnation),\
            "type":"T","app":"a",\(audience)"route":0,"attributes":{},"unknown":0,\
            "started":\(time),"digest":"1","state":\(state),"changed":\(time),"urgency":1}
            """
        return ActivityHead(activity: ActivityNumber(activity), value: Array(text.utf8))
    }

    /// The head that follows another.
    fileprivate static func head(after head: ActivityHead, _ events: [NewEvent]) -> ActivityHead? {
        guard let version = events.first?.expectedVersion else { return head }
        let recorded = events.map { RecordedEvent(seq: 1, previous: 0, event: $0) }
        var next = ActivityHead.following(head, version: version, recorded)
        next?.follows = true
        return next
    }
}

/// Activities whose events and heads are the core's: what a test appends batch by batch.
package struct SampleActivities {
    package private(set) var versions: [Int64: Int64] = [:]
    private var heads: [Int64: ActivityHead] = [:]
    /// Events that are not in `heads` yet: a head of many events costs little more than of one.
    private var pending: [Int64: [NewEvent]] = [:]
    private var incarnations: [Int64: Int64] = [:]
    package let tenant: TenantID

    package init(tenant: TenantID = Sample.lab) { self.tenant = tenant }

    package static func name(_ activity: Int64) -> Identifier {
        guard let name = Identifier("activity-\(activity)") else {
            preconditionFailure("it is an identifier")
        }
        return name
    }

    /// Goes on from what a log has.
    package mutating func recover(_ recovered: [(head: ActivityHead, version: Int64)]) {
        versions = [:]
        (heads, pending) = ([:], [:])
        for (head, version) in recovered {
            versions[head.activity.rawValue] = version
            heads[head.activity.rawValue] = head
            let stored = DecodedHead(head.value, version: version)
            incarnations[head.activity.rawValue] = stored?.incarnation
        }
    }

    /// The activity's next event, a start where it has none or one is asked for.
    package mutating func next(
        _ activity: Int64, _ state: String, kind: EventKind = .update, at instant: Instant,
        devices: [String] = [], key: String? = nil
    ) -> NewEvent {
        let version = versions[activity, default: 0]
        let kind = version == 0 ? .start : kind
        let body = kind == .start ? Sample.start(state, devices: devices) : "{\"state\":\(state)}"
        let event = Sample.event(
            activity, after: version, kind, tenant: tenant, at: instant, body: body, key: key)
        versions[activity] = version + 1
        if kind == .start {
            incarnations[activity, default: 0] += 1
            pending[activity] = nil
            heads[activity] = Sample.head(
                activity, named: Self.name(activity).rawValue, event,
                incarnation: incarnations[activity, default: 1], devices: devices, state: state)
        } else {
            pending[activity, default: []].append(event)
        }
        return event
    }

    /// A batch of events that `next` has made, with the heads that stand after them.
    package mutating func batch(_ events: [NewEvent]) -> AppendBatch {
        for (activity, events) in pending {
            guard let head = heads[activity] else { continue }
            heads[activity] = Sample.head(after: head, events) ?? head
        }
        pending = [:]
        let started = Set(events.filter { $0.kind == .start }.map(\.activity))
        let heads = Set(events.map(\.activity)).sorted().compactMap { number in
            self.heads[number.rawValue].map {
                ActivityHead(
                    activity: number, value: $0.value, follows: !started.contains(number))
            }
        }
        var batch = AppendBatch()
        (batch.events, batch.heads) = (events, heads)
        return batch
    }
}
