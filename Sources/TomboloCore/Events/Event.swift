/// The kinds of events that a producer can send.
package enum EventKind: UInt8, Hashable, Sendable, CaseIterable {
    case start = 1
    case update = 2
    case end = 3
    case play = 4
    case stop = 5

    /// Its name in `do` of a batch line and of the log.
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

    /// Parses `do`.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

extension FieldReader {
    /// Reads the kind of an event.
    package mutating func eventKind(_ name: String) -> EventKind? {
        choice(name, EventKind.choices)
    }
}

/// The producer's key for an event: repeated requests with the same key make one event.
package struct IdempotencyKey: Hashable, Sendable {
    /// As the producer wrote it (header `Idempotency-Key`, or `id` of a line); 1 to 255 bytes.
    package var key: String
    /// A 64-bit hash of method, path and body as sent. An equal digest means the same request;
    /// otherwise the bodies are compared by value.
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
    /// The activity's version before this event; 0 for the first. The event's version is one more.
    package var expectedVersion: Int64
    package var kind: EventKind
    package var recordedAt: Instant
    /// One JSON object in its shortest spelling, with the producer's names, their order and the
    /// spelling of numbers. Older logs may contain white space.
    package var body: [UInt8]
    package var idempotency: IdempotencyKey?
    /// The key that sent it.
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
    /// Its place among the events of all tenants: 1, 2, 3 … without a gap. Not in any answer,
    /// because it would reveal how much other tenants write.
    package var seq: Int64
    /// Its place among the events of its tenant: 1, 2, 3 … without a gap. The API's `seq`.
    package var tenantSeq: Int64
    /// The place of the activity's event before this one; 0 for the first.
    package var previous: Int64
    package var event: NewEvent

    package var version: Int64 { event.expectedVersion + 1 }

    /// - Parameter tenantSeq: nil if the log has only had one tenant.
    package init(seq: Int64, tenantSeq: Int64? = nil, previous: Int64, event: NewEvent) {
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.previous = previous
        self.event = event
    }
}

/// Something that the relay found out or that a device reported: an outcome, a token, a retirement.
///
/// Facts have their own sequence and are deleted by age; a `Record` has values that must stay.
package struct NewFact: Hashable, Sendable {
    package var tenant: TenantID
    /// The activity that it is about, if any.
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

/// A fact in the log. `seq` counts facts only: 1, 2, 3 … without a gap; `tenantSeq` counts those of
/// its tenant, and is `seq` in the API.
package struct RecordedFact: Hashable, Sendable {
    package var seq: Int64
    package var tenantSeq: Int64
    package var fact: NewFact

    /// - Parameter tenantSeq: nil if the log has only had one tenant.
    package init(seq: Int64, tenantSeq: Int64? = nil, fact: NewFact) {
        self.seq = seq
        self.tenantSeq = tenantSeq ?? seq
        self.fact = fact
    }
}
