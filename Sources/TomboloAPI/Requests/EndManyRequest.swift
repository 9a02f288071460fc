package import TomboloCore
package import TomboloJSON

/// The body of `POST /v1/activities/end`: a filter that selects activities, and how they end.
package struct EndManyRequest: Sendable {
    package var type: String?
    package var user: String?
    package var end: End

    /// Reads the body. Throws all faults together.
    package init(_ view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        if let filter = reader.object("where") {
            var inner = reader.inside(filter, "where")
            type = inner.string("type")
            user = inner.string("user")
            // An empty filter would end every activity, so it is refused.
            if type == nil, user == nil {
                inner.fail("type", "is missing: give type, user or both")
            }
            do { try inner.finish() } catch { reader.adopt(error) }
        } else {
            reader.fail(
                "where", "is missing: {\"type\":…} or {\"user\":…} says which activities end")
        }
        let faults = reader.errors
        let content: Command.Content
        do {
            content = try Command.Content(kind: .end, view, envelope: ["where"])
        } catch {
            throw FieldErrors([faults, error.errors].flatMap(\.self))
        }
        try reader.finish(allowingUnknown: true)
        guard case .end(let end) = content else {
            throw FieldErrors([FieldError(pointer: "", message: "is not an end")])
        }
        self.end = end
    }
}
