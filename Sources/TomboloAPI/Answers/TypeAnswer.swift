package import TomboloCore
package import TomboloJSON

extension TypeView: AnswerObject {
    /// Writes the type as `GET /v1/types/{type}` shows it: the stored members, its name and app.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("type", name)
        writer.member("app", app)
        for (name, value) in body.document.root.members where name != "app" && name != "type" {
            writer.rawMember(name, value.raw)
        }
    }
}

/// The answer to `PUT /v1/types/{type}`.
package struct TypeAnswer: AnswerObject, Sendable {
    private let type: String
    private let stored: Stored
    private let isDryRun: Bool

    /// - Parameter isDryRun: true if nothing was stored.
    package init(type: String, stored: Stored, isDryRun: Bool = false) {
        self.type = type
        self.stored = stored
        self.isDryRun = isDryRun
    }

    package var httpStatus: Int { stored.kind == .created ? 201 : 200 }

    package func write(membersTo writer: inout JSONWriter) {
        if isDryRun { writer.member("dry_run", true) }
        writer.member("type", type)
        writer.member("result", stored.kind == .created ? "created" : "updated")
        writer.lints(stored.lint)
    }
}
