package import TomboloCore
package import TomboloJSON

extension Pause {
    /// Writes the pause as `GET /v1/pauses/{id}` shows it.
    ///
    /// - Parameter isDryRun: true for a dry run; then the pause has no id.
    package func write(to writer: inout JSONWriter, isDryRun: Bool = false) {
        writer.object { writer in
            if isDryRun { writer.member("dry_run", true) } else { writer.member("id", name) }
            switch scope {
            case .all: writer.member("all", true)
            case .app(let app): writer.member("app", app)
            case .type(let type): writer.member("type", type)
            case .activity(let id): writer.member("activity", id.rawValue)
            }
            writer.member("alerts_only", alertsOnly)
            writer.optional("reason", reason)
            writer.member("since", since.rfc3339)
            writer.member("by", key.id)
        }
    }
}
