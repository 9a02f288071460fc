package import TomboloCore
package import TomboloJSON

/// One entry of `/v1/log` and of the tail.
package enum LogEntry: Sendable {
    /// `activity` is nil if its name is not known any more.
    case command(RecordedEvent, activity: Identifier?)
    /// `user` is the device's user, for an action; nil if not known any more.
    case fact(RecordedFact, activity: Identifier?, user: String? = nil)
    /// Replaces facts that the history has left out because it had no room.
    case thinned(RecordedFact)
    /// Replaces old rows that the log has deleted.
    case cut(RowsLeftOut, at: Instant)
    /// Replaces rows that cannot be read.
    case damaged(DamagedPlaces, at: Instant)

    /// The place among the tenant's commands or facts; for several rows, that of the last one.
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

    /// The name of the server-sent event.
    package var name: String {
        switch self {
        case .command(let event, _): event.event.kind.name
        case .fact(let fact, _, _): fact.fact.kind
        case .thinned, .cut: "left_out"
        case .damaged: "damaged"
        }
    }

    /// Writes the entry as one object.
    ///
    /// - Parameters:
    ///   - cursor: the position after the entry.
    ///   - now: an action that has expired by then is written without its parameters.
    package func write(to writer: inout JSONWriter, cursor: LogCursor, now: Instant) {
        writer.beginObject()
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
        writer.endObject()
    }

    /// `body` has the producer's own bytes.
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

    /// `body` is the fact's body; an action's members are written beside the others.
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
    /// Writes `damaged` instead of a body that is not JSON: that would spoil the document.
    fileprivate mutating func body(_ bytes: [UInt8], of document: JSONDocument?) {
        guard document != nil else { return member("damaged", true) }
        name("body")
        raw(bytes)
    }
}

/// A page of `/v1/log`; only a nil `nextCursor` marks the end.
package struct LogPage: Sendable {
    /// The entries, each with the position after it.
    package var entries: [(entry: LogEntry, cursor: LogCursor)]
    package var nextCursor: LogCursor?

    package init(entries: [(entry: LogEntry, cursor: LogCursor)], nextCursor: LogCursor?) {
        self.entries = entries
        self.nextCursor = nextCursor
    }

    /// Rows that the page lacks because they are damaged.
    private var damaged: [DamagedPlaces] {
        entries.compactMap { if case .damaged(let places, _) = $0.entry { places } else { nil } }
    }

    /// Writes the page as one object.
    ///
    /// - Parameter now: as in `LogEntry.write`.
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
