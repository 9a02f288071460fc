/// What a producer may do to an activity.
package enum EventKind: UInt8, Hashable, Sendable, CaseIterable {
    case start = 1
    case update = 2
    case end = 3
    case play = 4
    case stop = 5

    /// The word for it in `do` of a batch line and of the log.
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

    /// Reads `do`.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

extension FieldReader {
    /// What is to be done to an activity.
    package mutating func eventKind(_ name: String) -> EventKind? {
        choice(name, EventKind.choices)
    }
}

/// A producer's word that one request is one event, however often it is sent.
package struct IdempotencyKey: Hashable, Sendable {
    /// As the producer wrote it (header `Idempotency-Key`, or `id` of a line); 1 to 255 bytes.
    package var key: String
    /// 64 bits over method, path and body as sent. The same digest is the same request. If digests
    /// differ, the bodies are compared by value.
    package var bodyDigest: UInt64

    package init(key: String, bodyDigest: UInt64) {
        self.key = key
        self.bodyDigest = bodyDigest
    }
}

/// An event before storage.
package struct NewEvent: Hashable, Sendable {
    package var tenant: TenantID
    package var activity: ActivityNumber
    /// The version of the activity that this event follows; 0 for the first. Its own is one more.
    package var expectedVersion: Int64
    package var kind: EventKind
    package var recordedAt: Instant
    /// One JSON object in its shortest spelling: the producer's names, their order and the spelling
    /// of numbers. A log of before may have white space in it.
    package var body: [UInt8]
    package var idempotency: IdempotencyKey?
    /// Who asked for it.
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

/// An event as the log keeps it.
package struct RecordedEvent: Hashable, Sendable {
    /// Its place in the log, among the events of all tenants: 1, 2, 3 … without a gap. No answer
    /// tells it: it would tell a tenant how much others write.
    package var seq: Int64
    /// Its place among the events of its tenant: 1, 2, 3 … without a gap. The API's `seq`.
    package var tenantSeq: Int64
    /// The place of this activity's event before it; 0 for the first.
    package var previous: Int64
    package var event: NewEvent

    package var version: Int64 { event.expectedVersion + 1 }

    /// - Parameter tenantSeq: nil where the log has had no other tenant.
    package init(seq: Int64, tenantSeq: Int64? = nil, previous: Int64, event: NewEvent) {
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.previous = previous
        self.event = event
    }
}

/// Something the relay learned by itself or from a device: an outcome, a token, a retirement.
///
/// Facts have a sequence of their own and are cut by age; what must survive is in a `Record`.
package struct NewFact: Hashable, Sendable {
    package var tenant: TenantID
    /// The activity it is about, if any.
    package var activity: ActivityNumber?
    /// A short word: `token.registered`, `push.accepted`, `push.refused`, `device.registered` …
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

/// A fact as the log keeps it. `seq` counts facts alone: 1, 2, 3 … without a gap; `tenantSeq` those
/// of its tenant, and is what the API calls `seq`.
package struct RecordedFact: Hashable, Sendable {
    package var seq: Int64
    package var tenantSeq: Int64
    package var fact: NewFact

    /// - Parameter tenantSeq: nil where the log has had no other tenant.
    package init(seq: Int64, tenantSeq: Int64? = nil, fact: NewFact) {
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.fact = fact
    }
}
