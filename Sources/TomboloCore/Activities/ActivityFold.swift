import TomboloJSON

/// One activity rebuilt from its events alone, by the rules of the core.
///
/// `log verify` checks heads with it, and reads of past states use it. It checks no rules, because
/// every event in the log was accepted.
package struct ActivityFold: Sendable {
    /// The state after the events so far; nil before the first start.
    package private(set) var projection: Projection?
    /// Number of the incarnation: 1 for the first, plus 1 for each start after an end.
    package private(set) var incarnation: Int64 = 0
    /// The newest start's type; empty before the first.
    package private(set) var type = ""
    /// `seq` of the newest event that was applied; 0 before the first.
    package private(set) var seq: Int64 = 0
    /// True after an event with an erased body: the state is unknown until the next start.
    package private(set) var isErased = false

    package init() {}

    /// Continues from a stored head. Nil if the head cannot be read.
    package init?(_ head: [UInt8], version: Int64, seq: Int64) {
        guard let known = DecodedHead(head, version: version) else { return nil }
        projection = known.projection
        incarnation = known.incarnation
        type = known.type
        self.seq = seq
    }

    /// Applies the activity's next event. Returns what is wrong with the event, or nil.
    package mutating func apply(_ recorded: RecordedEvent) -> String? {
        let event = recorded.event
        let version = recorded.version
        seq = recorded.seq
        if event.body.isEmpty {
            isErased = true
            if event.kind == .start { incarnation += 1 }
            return nil
        }
        // The returned text reports the damage, so the error is dropped.
        guard let document = try? JSONDocument(event.body),
            // The same holds for a body that is not a valid command.
            let content = try? Command.Content(kind: event.kind, document.root, lenient: true)
        else { return "event \(seq): its body is not a valid \(event.kind.name)" }
        if case .start(let start) = content {
            projection = Projection(start, version: version, at: event.recordedAt)
            type = start.type
            incarnation += 1
            isErased = false
            return nil
        }
        if projection == nil, !isErased { return "event \(seq): its activity was never started" }
        projection?.apply(content, version: version, at: event.recordedAt)
        return nil
    }

    /// Returns how a stored head differs from this fold. Nil if it does not, or if the state is
    /// unknown because of an erased event. The activity's id and values that come from the
    /// configuration are not compared, because the events do not contain them.
    package func difference(fromHead value: [UInt8], version: Int64) -> String? {
        guard !isErased else { return nil }
        guard let head = DecodedHead(value, version: version) else { return "it cannot be read" }
        guard let projection else { return "the log has no event of it" }
        if head.incarnation != incarnation { return "its incarnation is \(head.incarnation)" }
        if head.type != type { return "its type is \(head.type)" }
        let (stored, folded) = (Self.bytes(head.projection), Self.bytes(projection))
        return stored == folded ? nil : "its state is not what its events come to"
    }

    private static func bytes(_ projection: Projection) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            projection.write(into: &writer)
        }
        return writer.bytes
    }
}
