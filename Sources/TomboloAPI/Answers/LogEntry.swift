package import TomboloCore
package import TomboloJSON

/// One row of `/v1/log` and of the tail.
package enum LogEntry: Sendable {
    /// `activity` is nil where its name is not known any more.
    case command(RecordedEvent, activity: Identifier?)
    case fact(RecordedFact, activity: Identifier?)

    /// Its place among those of its kind and tenant.
    package var tenantSeq: Int64 {
        switch self {
        case .command(let event, _): event.tenantSeq
        case .fact(let fact, _): fact.tenantSeq
        }
    }

    package var recordedAt: Instant {
        switch self {
        case .command(let event, _): event.event.recordedAt
        case .fact(let fact, _): fact.fact.recordedAt
        }
    }

    /// `body` is the producer's own bytes, or the fact's.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .command(let event, let activity):
            writer.member("seq", event.tenantSeq)
            writer.nullable("activity", activity?.rawValue)
            writer.member("version", event.version)
            writer.member("do", event.event.kind.name)
            writer.member("recorded_at", event.event.recordedAt.rfc3339)
            writer.member("kind", "command")
            writer.member("by", event.event.key.id)
            writer.optional("idempotency_key", event.event.idempotency?.key)
            guard !event.event.body.isEmpty else {
                writer.member("erased", true)
                break
            }
            writer.body(event.event.body)
        case .fact(let fact, let activity):
            writer.member("seq", fact.tenantSeq)
            writer.optional("activity", activity?.rawValue)
            writer.member("fact", fact.fact.kind)
            writer.member("recorded_at", fact.fact.recordedAt.rfc3339)
            writer.member("kind", "fact")
            writer.body(fact.fact.body)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    /// Text that is not JSON would spoil the document around it.
    fileprivate mutating func body(_ bytes: [UInt8]) {
        // Whatever is wrong with it, it is not written.
        guard (try? JSONDocument(bytes)) != nil else { return member("damaged", true) }
        name("body")
        raw(bytes)
    }
}

/// A page of `/v1/log`: only a `nextCursor` of nil is the end.
package struct LogPage: Sendable {
    package var entries: [LogEntry]
    package var nextCursor: String?
    package var damaged: [DamagedPlaces]

    package init(entries: [LogEntry], nextCursor: String?, damaged: [DamagedPlaces] = []) {
        self.entries = entries
        self.nextCursor = nextCursor
        self.damaged = damaged
    }

    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("events")
        writer.beginArray()
        for entry in entries { entry.write(to: &writer) }
        writer.endArray()
        writer.nullable("next_cursor", nextCursor)
        if !damaged.isEmpty {
            writer.name("damaged")
            writer.beginArray()
            for places in damaged {
                writer.beginObject()
                places.writeMembers(to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
