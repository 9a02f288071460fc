package import TomboloCore
package import TomboloJSON

extension TypeView {
    /// Writes the type as `GET /v1/types/{type}` shows it: what was put, under its name and app.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", name)
        writer.member("app", app)
        for (name, value) in body.document.root.members where name != "app" && name != "type" {
            writer.name(name)
            writer.raw(value.raw)
        }
        writer.endObject()
    }
}

/// The answer to `PUT /v1/types/{type}`.
package struct TypeAnswer: Sendable {
    private let type: String
    private let stored: Stored

    package init(type: String, stored: Stored) {
        self.type = type
        self.stored = stored
    }

    package var httpStatus: Int { stored.kind == .created ? 201 : 200 }

    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", type)
        writer.member("result", stored.kind == .created ? "created" : "updated")
        writer.lints(stored.lint)
        writer.endObject()
    }
}
