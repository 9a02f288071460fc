import TomboloJSON

/// `timeline reload` and `control reload`.
enum SurfaceReloadCommands {
    static func reload(
        _ context: CommandContext, _ surface: String
    ) async throws -> ExitStatus {
        let invocation = context.invocation
        let kind = invocation.arguments[0]
        let devices = invocation.all(.device)
        let user = invocation.text(.user)
        guard devices.isEmpty != (user == nil) else {
            let name = invocation.commandName
            throw ProgramError.usage(
                "\(name) needs --device or --user, and not both",
                remedy: "tombolo \(name) \(kind) --device DEVICE")
        }
        let body = JSON.object { writer in
            if let app = invocation.text(.app) { writer.member("app", app) }
            if let user {
                writer.member("user", user)
            } else {
                writer.array("devices", of: devices) { $0.string($1) }
            }
        }.bytes
        let path = "/v1/\(surface)/\(PathText.escaped(kind))/reload"
        let answer = try await context.reply(
            to: .write(context, "POST", path, body: body), name: kind)
        let view = try answer.document().root
        let wanted = view["wanted"]?.integer ?? 0
        let unreachable = view["unreachable"]?.integer ?? 0
        try context.present(answer) { _ in
            let reload = invocation.isGiven(.dryRun) ? "would reload" : "to reload"
            let left = unreachable > 0 ? "; \(unreachable) without a token for it" : ""
            try context.terminal.print("\(kind): \(wanted) \(reload)\(left)")
        }
        if wanted == 0 { return .notFoundOrConflict }
        return unreachable > 0 ? .partly : .succeeded
    }
}
