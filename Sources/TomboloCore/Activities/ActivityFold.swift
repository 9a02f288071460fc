import TomboloJSON

/// One activity rebuilt from its events alone, by the rules by which the core followed them.
///
/// It is how `log verify` checks heads, and how the state of any moment of the past is found. It
/// decides nothing: an event that is in the log was accepted.
package struct ActivityFold: Sendable {
    /// What the events so far come to; nil before the first start.
    package private(set) var projection: Projection?
    /// Which life of the activity it is: 1 for the first, one more with each start after an end.
    package private(set) var incarnation: Int64 = 0
    /// The newest start's type; empty before the first.
    package private(set) var type = ""
    /// The newest event that it followed; 0 before the first.
    package private(set) var seq: Int64 = 0
    /// An event's body was erased: from there on the state is not known, until the next start.
    package private(set) var isErased = false

    package init() {}

    /// Goes on after a head that was kept. Nil where it cannot be read.
    package init?(_ head: [UInt8], version: Int64, seq: Int64) {
        guard let known = StoredHead(head, version: version) else { return nil }
        projection = known.projection
        incarnation = known.incarnation
        type = known.type
        self.seq = seq
    }

    /// Follows the activity's next event. Answers what is wrong with it, or nil.
    package mutating func apply(_ recorded: RecordedEvent) -> String? {
        let event = recorded.event
        let version = recorded.version
        seq = recorded.seq
        if event.body.isEmpty {
            isErased = true
            if event.kind == .start { incarnation += 1 }
            return nil
        }
        // Damage is the answer.
        guard let document = try? JSONDocument(event.body),
            // What cannot be read changes nothing: it is reported as damage elsewhere.
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

    /// Compares with a head as the core encoded it. Answers what differs, or nil. What the log
    /// alone cannot tell is not compared: the id, and what the configuration decided.
    package func difference(fromHead value: [UInt8], version: Int64) -> String? {
        guard !isErased else { return nil }
        guard let head = StoredHead(value, version: version) else { return "it cannot be read" }
        guard let projection else { return "the log has no event of it" }
        if head.incarnation != incarnation { return "its incarnation is \(head.incarnation)" }
        if head.type != type { return "its type is \(head.type)" }
        let (stored, folded) = (Self.bytes(head.projection), Self.bytes(projection))
        return stored == folded ? nil : "its state is not what its events come to"
    }

    private static func bytes(_ projection: Projection) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        projection.write(into: &writer)
        writer.endObject()
        return writer.bytes
    }
}

/// An activity's head, read without a core: for those who look into a log that no relay has open,
/// and for activities that ended long ago.
package struct StoredHead: Sendable {
    /// Who it is.
    package let key: ActivityKey
    /// As `ActivityFold` counts it.
    package let incarnation: Int64
    /// The name of the app's `ActivityAttributes` type.
    package let type: String
    /// The bundle id of its app.
    package let app: String
    /// How it stood at the head's version.
    package let projection: Projection

    /// Nil where the bytes are no head.
    package init?(_ value: [UInt8], version: Int64) {
        guard
            let activity = Activity(
                head: value, number: ActivityNumber(0), version: version, seq: 0)
        else { return nil }
        key = activity.key
        incarnation = activity.incarnation
        type = activity.definition.type
        app = activity.definition.app
        projection = activity.accepted
    }
}
