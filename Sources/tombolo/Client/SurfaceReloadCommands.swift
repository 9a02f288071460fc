import TomboloCore
import TomboloJSON

/// `timeline reload` and `control reload`.
enum SurfaceReloadCommands {
    static func timeline(_ context: CommandContext) async throws -> ExitStatus {
        try await reload(context, "timelines")
    }

    static func control(_ context: CommandContext) async throws -> ExitStatus {
        try await reload(context, "controls")
    }

    private static func reload(
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
        var writer = JSONWriter()
        writer.beginObject()
        if let app = invocation.text(.app) { writer.member("app", app) }
        if let user {
            writer.member("user", user)
        } else {
            writer.name("devices")
            writer.beginArray()
            for device in devices { writer.string(device) }
            writer.endArray()
        }
        writer.endObject()
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let path = "/v1/\(surface)/\(PathText.escaped(kind))/reload"
        let answer = try await client.send(
            .write(context, "POST", path, body: writer.bytes), name: kind)
        let view = try answer.document().root
        let wanted = view["wanted"]?.integer ?? 0
        let unreachable = view["unreachable"]?.integer ?? 0
        if OutputFormat(context) == .table {
            let reload = invocation.isGiven(.dryRun) ? "would reload" : "to reload"
            let left = unreachable > 0 ? "; \(unreachable) without a token for it" : ""
            try context.terminal.print("\(kind): \(wanted) \(reload)\(left)")
        } else {
            try context.terminal.write(answer.line)
        }
        if wanted == 0 { return .notFoundOrConflict }
        return unreachable > 0 ? .partly : .succeeded
    }
}
