import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/configuration/reload`: does the same as SIGHUP; it answers a line for each result.
    /// The configuration is common to all tenants, so only keys of tenant `main` may reload it.
    func reloadConfiguration(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        guard request.tenant == .main else {
            throw Problem(
                .forbidden,
                "The configuration is the whole relay's. Use a key of the tenant main with scope "
                    + "operate."
            ).adding("required_scope", "operate")
        }
        try await read(request, orEmpty: true) { view throws(FieldErrors) in
            // The body takes no members. Refuse any member rather than ignore it.
            var reader = FieldReader(view)
            try reader.finish()
        }
        let isDryRun = try request.isDryRun
        guard let reload else {
            throw Problem(
                .unknownRoute,
                "This relay has no configuration to read again: tombolo dev makes its own.")
        }
        let notes = await reload(isDryRun)
        if !isDryRun {
            let deed = deed("config.reloaded", [:], request)
            await relay.note(deed)
            tell(deed, "the configuration is read again, as a key has asked")
        }
        return .object(isDryRun: isDryRun) { writer in
            writer.array("lines", of: notes) { writer, note in
                writer.object { writer in
                    writer.member("result", Self.result(of: note))
                    writer.member("message", note.text)
                    if let remedy = note.remedy { writer.member("try", remedy) }
                }
            }
        }
    }

    private static func result(of note: OperatorNote) -> String {
        switch note.event {
        case .configurationApplied: "applied"
        case .configurationNeedsRestart: "needs_restart"
        case .configurationRefused: "refused"
        default: "notice"
        }
    }
}
