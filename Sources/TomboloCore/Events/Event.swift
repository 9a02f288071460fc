/// The kinds of events that a producer can send.
package enum EventKind: UInt8, Hashable, Sendable, CaseIterable {
    case start = 1
    case update = 2
    case end = 3
    case play = 4
    case stop = 5

    /// The name in `do` of a batch line, and in the log.
    package var name: String {
        switch self {
        case .start: "start"
        case .update: "update"
        case .end: "end"
        case .play: "play"
        case .stop: "stop"
        }
    }

    static let choices: [(String, EventKind)] = allCases.map { ($0.name, $0) }

    /// Parses the value of `do`. Returns nil for other texts.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

extension FieldReader {
    /// Reads the kind of an event from the member `name`.
    package mutating func eventKind(_ name: String) -> EventKind? {
        choice(name, EventKind.choices)
    }
}

/// The producer's key for an event. Repeated requests with the same key make only one event.
package struct IdempotencyKey: Hashable, Sendable {
    /// The key as the producer wrote it (header `Idempotency-Key`, or `id` of a line): 1 to 255
    /// bytes.
    package var key: String
    /// A 64-bit hash of method, path and body as sent. Requests with equal digests are the same. If
    /// the digests differ, an event's body is compared by value, and an action is refused.
    package var bodyDigest: UInt64

    package init(key: String, bodyDigest: UInt64) {
        self.key = key
        self.bodyDigest = bodyDigest
    }
}

/// An event that is not in the log yet.
package struct NewEvent: Hashable, Sendable {
    package var tenant: TenantID
    package var activity: ActivityNumber
    /// The activity's version before this event; 0 for its first event. The event makes the next
    /// version.
    package var expectedVersion: Int64
    package var kind: EventKind
    package var recordedAt: Instant
    /// The shortest text of one JSON object. Names, their order and numbers are as the producer
    /// wrote them. Bodies in older logs may contain white space.
    package var body: [UInt8]
    package var idempotency: IdempotencyKey?
    /// The API key that sent the event.
    package var key: AskingKey

    package init(
        tenant: TenantID, activity: ActivityNumber, expectedVersion: Int64, kind: EventKind,
        recordedAt: Instant, body: [UInt8], idempotency: IdempotencyKey? = nil,
        key: AskingKey = .unknown
    ) {
        self.tenant = tenant
        self.activity = activity
        self.expectedVersion = expectedVersion
        self.kind = kind
        self.recordedAt = recordedAt
        self.body = body
        self.idempotency = idempotency
        self.key = key
    }
}

/// An event in the log.
package struct RecordedEvent: Hashable, Sendable {
    /// The event's place among those of all tenants: 1, 2, 3 … without a gap. No answer shows it,
    /// because it would reveal how much other tenants write.
    package var seq: Int64
    /// The event's place among those of its tenant: 1, 2, 3 … without a gap. It is `seq` in the
    /// API.
    package var tenantSeq: Int64
    /// The place of the activity's previous event; 0 for its first event.
    package var previous: Int64
    package var event: NewEvent

    package var version: Int64 { event.expectedVersion + 1 }

    /// - Parameter tenantSeq: nil if the log has had only one tenant; then it equals `seq`.
    package init(seq: Int64, tenantSeq: Int64? = nil, previous: Int64, event: NewEvent) {
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.previous = previous
        self.event = event
    }
}

/// Something that the relay has found out or a device has reported: the outcome of a push, a new
/// token, a retirement.
///
/// Facts have their own numbers and are deleted by age. A `Record` is for values that must stay.
package struct NewFact: Hashable, Sendable {
    package var tenant: TenantID
    /// The activity that the fact is about, if any.
    package var activity: ActivityNumber?
    /// A short name: `token.registered`, `push.accepted`, `push.refused`, `device.registered` …
    package var kind: String
    package var recordedAt: Instant
    /// One JSON object.
    package var body: [UInt8]

    package init(
        tenant: TenantID, activity: ActivityNumber?, kind: String, recordedAt: Instant,
        body: [UInt8]
    ) {
        self.tenant = tenant
        self.activity = activity
        self.kind = kind
        self.recordedAt = recordedAt
        self.body = body
    }
}

/// A fact in the log. `seq` counts the facts of all tenants: 1, 2, 3 … without a gap. `tenantSeq`
/// counts those of the fact's tenant; it is `seq` in the API.
package struct RecordedFact: Hashable, Sendable {
    package var seq: Int64
    package var tenantSeq: Int64
    package var fact: NewFact

    /// - Parameter tenantSeq: nil if the log has had only one tenant; then it equals `seq`.
    package init(seq: Int64, tenantSeq: Int64? = nil, fact: NewFact) {
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.fact = fact
    }
}
