import Testing
package import TomboloCore
package import TomboloEventLog

/// Short words for what the rules append.
package enum Sample {
    package static let lab = tenant("lab")
    package static let field = tenant("field")
    package static let noon = Instant(seconds: 1_800_000_000)

    package static func tenant(_ name: String) -> TenantID {
        guard let name = Identifier(name) else { preconditionFailure("\(name) is an identifier") }
        return TenantID(name)
    }

    package static func event(
        _ activity: Int64, after version: Int64, _ kind: EventKind = .update,
        tenant: TenantID = lab, at instant: Instant = noon, body: String = "{}",
        key: String? = nil
    ) -> NewEvent {
        NewEvent(
            tenant: tenant, activity: ActivityNumber(activity), expectedVersion: version,
            kind: kind, recordedAt: instant, body: Array(body.utf8),
            idempotency: key.map { IdempotencyKey(key: $0, bodyDigest: 0xfeed_face_dead_beef) })
    }

    package static func fact(
        _ kind: String, activity: Int64? = nil, tenant: TenantID = lab
    ) -> NewFact {
        NewFact(
            tenant: tenant, activity: activity.map(ActivityNumber.init), kind: kind,
            recordedAt: noon, body: Array("{\"fact\":\"\(kind)\"}".utf8))
    }

    /// A batch of events with a head for each activity.
    package static func batch(_ events: NewEvent...) -> AppendBatch { batch(events) }

    package static func batch(_ events: [NewEvent]) -> AppendBatch {
        var batch = AppendBatch()
        batch.events = events
        batch.heads = Set(events.map(\.activity)).sorted().map {
            ActivityHead(activity: $0, value: Array("head of \($0.rawValue)".utf8))
        }
        return batch
    }

    /// All pages of `query`, joined.
    package static func allEvents(_ log: any EventLog, _ query: EventQuery) async throws
        -> [RecordedEvent]
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
    /// All that was recovered, keys of any age.
    package func recover() async throws -> RecoveredLog {
        try await recover(idempotencySince: .distantPast)
    }
}
