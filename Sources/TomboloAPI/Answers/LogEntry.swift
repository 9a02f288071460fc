package import TomboloCore
package import TomboloJSON

/// One entry of `/v1/log` and of the tail.
package enum LogEntry: Sendable {
    /// `activity` is nil if its name is no longer known.
    case command(RecordedEvent, activity: Identifier?)
    /// For an action, `user` is the device's user; nil if it is no longer known.
    case fact(RecordedFact, activity: Identifier?, user: String? = nil)
    /// Says that facts were not kept because the history had no space for them.
    case thinned(RecordedFact)
    /// Says that old rows were deleted from the log.
    case cut(RowsLeftOut, at: Instant)
    /// Says that rows cannot be read.
    case damaged(DamagedPlaces, at: Instant)

    /// The entry's place among the tenant's commands or facts. For several rows, the last one's.
    package var tenantSeq: Int64 {
        switch self {
        case .command(let event, _): event.tenantSeq
        case .fact(let fact, _, _), .thinned(let fact): fact.tenantSeq
        case .cut(let rows, _): rows.last
        case .damaged(let places, _): places.places.upperBound
        }
    }

    package var recordedAt: Instant {
        switch self {
        case .command(let event, _): event.event.recordedAt
        case .fact(let fact, _, _), .thinned(let fact): fact.fact.recordedAt
        case .cut(_, let at), .damaged(_, let at): at
        }
    }

    /// The event name for server-sent events.
    package var name: String {
        switch self {
        case .command(let event, _): event.event.kind.name
        case .fact(let fact, _, _): fact.fact.kind
        case .thinned, .cut: "left_out"
        case .damaged: "damaged"
        }
    }

    /// - Parameters:
    ///   - cursor: the position after the entry.
    ///   - now: the parameters of actions that have expired by this time are left out.
    package func write(to writer: inout JSONWriter, cursor: LogCursor, now: Instant) {
        writer.object { writer in
            switch self {
            case .command(let event, let activity): Self.write(event, activity, to: &writer)
            case .fact(let fact, let activity, let user):
                Self.write(fact, activity, user, now: now, to: &writer)
            case .thinned(let fact): RowsLeftOut.write(fact, to: &writer)
            case .cut(let rows, _): rows.writeMembers(to: &writer)
            case .damaged(let places, _):
                writer.member("seq", places.places.upperBound)
                writer.member("damaged", true)
                places.writeMembers(to: &writer)
            }
            writer.member("cursor", cursor.text)
        }
    }

    /// Writes an event. `body` has the bytes that the producer sent.
    private static func write(
        _ event: RecordedEvent, _ activity: Identifier?, to writer: inout JSONWriter
    ) {
        writer.member("seq", event.tenantSeq)
        writer.nullable("activity", activity?.rawValue)
        writer.member("version", event.version)
        writer.member("do", event.event.kind.name)
        writer.member("recorded_at", event.event.recordedAt.rfc3339)
        writer.member("kind", "command")
        writer.member("by", event.event.key.id)
        writer.optional("idempotency_key", event.event.idempotency?.key)
        guard !event.event.body.isEmpty else { return writer.member("erased", true) }
        writer.body(event.event.body, of: readable(event.event.body))
    }

    /// Writes a fact with its `body`. For an action, its own members are written instead.
    private static func write(
        _ fact: RecordedFact, _ activity: Identifier?, _ user: String?, now: Instant,
        to writer: inout JSONWriter
    ) {
        let document = readable(fact.fact.body)
        writer.member("seq", fact.tenantSeq)
        writer.optional("activity", activity?.rawValue)
        writer.member("fact", fact.fact.kind)
        writer.member("recorded_at", fact.fact.recordedAt.rfc3339)
        writer.member("kind", "fact")
        FactSummary(fact.fact, body: document?.root).writeMembers(to: &writer)
        guard let document, let action = ActionFact(fact.fact, document.root) else {
            return writer.body(fact.fact.body, of: document)
        }
        writer.optional("user", user)
        action.writeMembers(to: &writer, now: now)
    }

    /// Nil if the body is not JSON.
    private static func readable(_ body: [UInt8]) -> JSONDocument? { try? JSONDocument(body) }
}

extension JSONWriter {
    /// Writes the body. If it is not JSON, writes `"damaged":true` instead, because the bytes would
    /// make the whole answer invalid.
    fileprivate mutating func body(_ bytes: [UInt8], of document: JSONDocument?) {
        guard document != nil else { return member("damaged", true) }
        named("body") { $0.raw(bytes) }
    }
}

/// A page of `/v1/log`. At the log's end, `nextCursor` is nil.
package struct LogPage: Sendable {
    /// The entries, each with the position after it.
    package var entries: [(entry: LogEntry, cursor: LogCursor)]
    package var nextCursor: LogCursor?

    package init(entries: [(entry: LogEntry, cursor: LogCursor)], nextCursor: LogCursor?) {
        self.entries = entries
        self.nextCursor = nextCursor
    }

    /// The damaged rows that this page lacks.
    private var damaged: [DamagedPlaces] {
        entries.compactMap { if case .damaged(let places, _) = $0.entry { places } else { nil } }
    }

    /// Writes the page as one object.
    ///
    /// - Parameter now: see `LogEntry.write`.
    package func write(to writer: inout JSONWriter, now: Instant) {
        writer.beginObject()
        writer.name("events")
        writer.beginArray()
        for (entry, cursor) in entries {
            if case .damaged = entry { continue }
            entry.write(to: &writer, cursor: cursor, now: now)
        }
        writer.endArray()
        writer.nullable("next_cursor", nextCursor?.text)
        if !damaged.isEmpty {
            writer.array("damaged", of: damaged) { writer, places in
                writer.object { writer in
                    places.writeMembers(to: &writer)
                }
            }
        }
        writer.endObject()
    }
}
