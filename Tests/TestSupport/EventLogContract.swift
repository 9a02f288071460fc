import Testing
import TomboloCore
package import TomboloEventLog

/// Where a log lives: what a test opens, and opens again.
package protocol EventLogPlace: Sendable {
    /// A log over all that is durable here; whatever was open before is closed or gone.
    func open() async throws -> any EventLog
}

/// What every log promises, one rule each. An adapter's tests run `all` over places of its own.
package struct EventLogContract: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    private let check: @Sendable (any EventLogPlace) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (any EventLogPlace) async throws -> Void) {
        testDescription = name
        self.check = check
    }

    /// Runs the rule in a fresh place.
    package func check(in place: any EventLogPlace) async throws { try await check(place) }

    package static let all = appending + refusing + reading + recovering
}

/// Short words for what the rules append.
enum Sample {
    static let lab = tenant("lab")
    static let field = tenant("field")
    static let noon = Instant(seconds: 1_800_000_000)

    static func tenant(_ name: String) -> TenantID {
        guard let name = Identifier(name) else { preconditionFailure("\(name) is an identifier") }
        return TenantID(name)
    }

    static func event(
        _ activity: Int64, after version: Int64, _ kind: EventKind = .update,
        tenant: TenantID = lab, at instant: Instant = noon, body: String = "{}",
        key: String? = nil
    ) -> NewEvent {
        NewEvent(
            tenant: tenant, activity: ActivityNumber(activity), expectedVersion: version,
            kind: kind, recordedAt: instant, body: Array(body.utf8),
            idempotency: key.map { IdempotencyKey(key: $0, bodyDigest: 0xfeed_face_dead_beef) })
    }

    static func fact(
        _ kind: String, activity: Int64? = nil, tenant: TenantID = lab
    ) -> NewFact {
        NewFact(
            tenant: tenant, activity: activity.map(ActivityNumber.init), kind: kind,
            recordedAt: noon, body: Array("{\"fact\":\"\(kind)\"}".utf8))
    }

    /// A batch of events with a head for each activity.
    static func batch(_ events: NewEvent...) -> AppendBatch { batch(events) }

    static func batch(_ events: [NewEvent]) -> AppendBatch {
        var batch = AppendBatch()
        batch.events = events
        batch.heads = Set(events.map(\.activity)).sorted().map {
            ActivityHead(activity: $0, value: Array("head of \($0.rawValue)".utf8))
        }
        return batch
    }

    /// All pages of `query`, joined.
    static func allEvents(_ log: any EventLog, _ query: EventQuery) async throws -> [RecordedEvent]
    {
        var query = query
        var events: [RecordedEvent] = []
        while true {
            let page = try await log.events(query)
            #expect(page.events.count <= query.limit)
            events += page.events
            guard let next = page.next else { return events }
            try #require(next > query.after, "a page always leads on")
            query.after = next
        }
    }
}

extension EventLog {
    /// Appends under the one ownership that there is in tests.
    func append(_ batch: AppendBatch) async throws -> AppendReceipt {
        try await append(batch, under: .sole)
    }

    /// All that was recovered, keys of any age.
    func recover() async throws -> RecoveredLog {
        try await recover(idempotencySince: .distantPast)
    }
}
