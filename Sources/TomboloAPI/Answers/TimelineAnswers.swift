package import TomboloCore
package import TomboloJSON

/// The answer to `PUT /v1/timelines/{kind}`.
package struct TimelineAnswer: AnswerObject, Sendable {
    private let kind: Identifier
    private let subject: TimelineSubject
    private let stored: Stored
    private let isDryRun: Bool

    /// - Parameter isDryRun: true if nothing was stored.
    package init(
        kind: Identifier, subject: TimelineSubject, stored: Stored, isDryRun: Bool = false
    ) {
        self.kind = kind
        self.subject = subject
        self.stored = stored
        self.isDryRun = isDryRun
    }

    package var httpStatus: Int { stored.kind == .created && !isDryRun ? 201 : 200 }

    package func write(membersTo writer: inout JSONWriter) {
        if isDryRun { writer.member("dry_run", true) }
        writer.member("kind", kind.rawValue)
        writer.subject(subject)
        writer.member("result", stored.kind == .created ? "created" : "updated")
        writer.object("reload") { writer in
            writer.member("wanted", Int64(stored.count))
            writer.member("unreachable", Int64(stored.unreachable))
            // A `widgets` push does not name a kind of widget, so it reloads all kinds.
            writer.member("every_kind", true)
        }
        writer.lints(stored.lint)
    }
}

extension JSONWriter {
    fileprivate mutating func subject(_ subject: TimelineSubject) {
        name("subject")
        beginObject()
        member(subject.name, subject.text)
        endObject()
    }

    fileprivate mutating func policy(_ policy: Timeline.Policy) {
        name("policy")
        switch policy {
        case .atEnd: string("atEnd")
        case .never: string("never")
        case .after(let date):
            beginObject()
            member("after", date.rfc3339InSeconds)
            endObject()
        }
    }

    /// Begins an entry. The caller must write the value of its `content` next.
    fileprivate mutating func beginEntry(_ entry: TimelineEntries.Entry) {
        beginObject()
        member("date", entry.date.rfc3339InSeconds)
        name("content")
    }

    fileprivate mutating func endEntry(_ entry: TimelineEntries.Entry) {
        optional("url", entry.url)
        if let links = entry.links { member("links", links) }
        if let relevance = entry.relevance { member("relevance", relevance) }
        member("provisional", entry.isProvisional)
        endObject()
    }
}

extension TimelineView: AnswerObject {
    /// Writes the timeline as `GET /v1/timelines/{kind}` shows it: the stored members, its kind and
    /// app, and when its producer will be asked for the next one.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("kind", key.kind.rawValue)
        writer.member("app", key.app)
        let own = ["kind", "app", "updated_at", "due_at"]
        for member in timeline.outline.members where !own.contains(member.name) {
            writer.member(member.name, timeline.body.value(at: member.place))
        }
        writer.member("updated_at", updatedAt.rfc3339)
        writer.nullable("due_at", dueAt?.rfc3339)
    }

    /// The cursor for the timelines after this one in a list.
    package static func cursor(_ order: [String]) -> String { order.joined(separator: "/") }
}

/// The answer to a widget's `TimelineProvider`. It may have 4 MiB, so it is written in pieces, and
/// other requests are served in between.
package struct TimelineEntriesText: Sendable {
    private let all: TimelineEntries
    /// Number of entries written. For a widget with several configurations: number of items.
    private var written = 0

    /// Approximate size of a piece in bytes.
    private static let pieceBytes = 128 << 10

    /// Keeps only the part for the widget's family, if `all` has more.
    package init(_ all: TimelineEntries) {
        var all = all
        all.applyCut()
        self.all = all
    }

    /// Writes the next piece. Returns false after the last one.
    package mutating func writePiece(to writer: inout JSONWriter) -> Bool {
        if written == 0 {
            writer.beginObject()
            writer.name("entries")
            writer.beginArray()
        }
        if let several = all.several {
            if writeItem(several, to: &writer) { return true }
        } else {
            let end = writer.bytes.count + Self.pieceBytes
            for entry in all.entries.dropFirst(written) {
                guard writer.bytes.count < end else { return true }
                writer.beginEntry(entry)
                writer.raw(entry.content)
                writer.endEntry(entry)
                written += 1
            }
        }
        writer.endArray()
        writer.policy(all.policy)
        writer.optional("type", all.type)
        writer.endObject()
        return false
    }

    /// Writes the next item of a widget with several configurations. After the last one, closes the
    /// entry and returns false.
    private mutating func writeItem(
        _ several: (entry: TimelineEntries.Entry, items: [TimelineEntries?]),
        to writer: inout JSONWriter
    ) -> Bool {
        if written == 0 {
            writer.beginEntry(several.entry)
            writer.beginObject()
            writer.name("items")
            writer.beginArray()
        }
        writer.raw(several.items[written]?.entries.first?.content ?? .emptyObject)
        written += 1
        guard written == several.items.count else { return true }
        writer.endArray()
        writer.endObject()
        writer.endEntry(several.entry)
        return false
    }
}

/// The answer to `GET /v1/timelines/{kind}/choices`.
package struct TimelineChoices: AnswerObject, Sendable {
    private let choices: [(key: Identifier, now: TimelineEntries)]

    private let next: String?

    /// - Parameter next: the cursor of the next page; nil if this is the last page.
    package init(_ choices: [(key: Identifier, now: TimelineEntries)], next: String?) {
        (self.choices, self.next) = (choices, next)
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.array("choices", of: choices) { writer, choice in
            writer.object { writer in
                writer.member("config", choice.key.rawValue)
                writer.member("content", choice.now.entries.first?.content ?? .emptyObject)
            }
        }
        writer.nullable("next_cursor", next)
    }
}
