package import TomboloCore
import TomboloJSON

/// One line of a batch: an event and its activity. A CloudEvent is read into the same type.
package struct EventLine: Sendable {
    /// The producer's event id. It is the idempotency key (in a CloudEvent with `source`).
    package var id: String?
    /// The source of a CloudEvent; nil for other lines.
    package var source: String?
    package var activity: Identifier
    package var content: Command.Content
    /// The bytes as sent: the line, or the `data` of a CloudEvent.
    package var sent: [UInt8]
    /// The bytes that the log stores: the same JSON in its shortest spelling.
    package var body: [UInt8]

    /// Why a line is refused, with the line's id if it could be read.
    package struct Fault: Error, Sendable {
        package var id: String?
        package var problem: Problem

        /// - Parameter activity: the member that names the activity; nil if nothing could be read.
        init(id: String?, problem: Problem, activity: JSONView? = nil) {
            (self.id, self.problem) = (id, problem)
            self.problem.activity = activity?.string.flatMap { Identifier($0) }
        }
    }

    /// Allowed lengths of an id in bytes, as for an `Idempotency-Key`.
    package static let idBytes = 1...255

    /// Reads one line. Throws its fault.
    package init(_ bytes: [UInt8]) throws(Fault) {
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: .received)
        } catch {
            throw Fault(id: nil, problem: Problem(inLine: error))
        }
        let id = document.root["id"]?.string
        do {
            try self.init(document, id: id)
        } catch {
            throw Fault(
                id: id, problem: Problem(error), activity: document.root["activity"])
        }
    }

    private static func missingActivity(in view: JSONView) -> String {
        let near =
            view["activity"] == nil
            ? nearestName(to: "activity", among: view.members.map(\.name)) : nil
        return ": the activity's id" + (near.map { "; \"\($0)\" is none" } ?? "")
    }

    private init(_ document: JSONDocument, id: String?) throws(FieldErrors) {
        let view = document.root
        self.id = id
        sent = document.bytes
        var reader = FieldReader(view)
        if let id = reader.string("id"), !Self.idBytes.contains(id.utf8.count) {
            reader.fail("id", "must have 1 to 255 bytes")
        }
        let activity = reader.identifier("activity")
        reader.require("activity", Self.missingActivity(in: view))
        let kind = reader.eventKind("do")
        if activity == Identifier.reserved, kind == .start {
            reader.fail(
                "activity", "must be another id: POST /v1/activities/end is the end of many")
        }
        reader.require(
            "do",
            ": one of start, update, end, play, stop"
                + (view["event"] == nil ? "" : "; here that is \"do\", and not \"event\""))
        // `Command.Content.reading` reads the other fields.
        try reader.finish(allowingUnknown: true)
        guard let activity, let kind else {
            throw FieldErrors([FieldError(pointer: "", message: "is incomplete")])
        }
        self.activity = activity
        (content, body) = try Command.Content.reading(
            kind, document, envelope: ["id", "activity", "do"])
    }
}
