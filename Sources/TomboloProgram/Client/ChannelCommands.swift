import TomboloJSON

/// `channel put`, `channel ls`, `channel show` and `channel rm`.
enum ChannelCommands {
    static func put(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let traits = invocation.values([
            ("app", .app), ("environment", .ofEnvironment), ("storage", .storage),
        ])
        let body = JSON.object { $0.optionals(traits) }.bytes
        return try await ReadCommands.show(
            context, .write(context, "PUT", path(context), body: body),
            name: invocation.arguments[0])
    }

    static func list(_ context: CommandContext) async throws -> ExitStatus {
        try await context.present(RelayRequest("GET", "/v1/channels"), name: nil) { view in
            let columns: [Column] = ["channel", "app", "environment", "storage", "activity", "id"]
            try context.terminal.write(TextTable(columns, view.items("channels")))
            try context.terminal.print(view.items("apps").map(quota).joined(separator: "\n"))
        }
    }

    /// Maximum unknown channels in the table; the others are counted. `-o json` lists all.
    private static let unknownMax = 20

    private static func quota(_ app: JSONView) -> String {
        let name = "\(app["app"]?.string ?? "") \(app["environment"]?.string ?? "")"
        let used = app["used"]?.integer.map { "\($0)" } ?? "?"
        let limit = app["limit"]?.integer ?? 0
        let own = app["own"]?.integer ?? 0
        let unknown = app.texts("unknown")
        let ids = unknown.prefix(unknownMax).map { "\n  \($0)" }.joined()
        let more = unknown.count > unknownMax ? "\n  and \(unknown.count - unknownMax) more" : ""
        let rest =
            unknown.isEmpty
            ? ""
            : "; \(unknown.count) that it knows nothing of (tombolo channel rm ID):" + ids + more
        return "\(name): \(used) of \(limit) at Apple, \(own) of this relay\(rest)"
    }

    static func show(_ context: CommandContext) async throws -> ExitStatus {
        try await ReadCommands.show(
            context, RelayRequest("GET", path(context)), name: context.invocation.arguments[0])
    }

    static func remove(_ context: CommandContext) async throws -> ExitStatus {
        try await ReadCommands.show(
            context, .write(context, "DELETE", path(context)), name: context.invocation.arguments[0]
        )
    }

    private static func path(_ context: CommandContext) -> String {
        "/v1/channels/\(PathText.escaped(context.invocation.arguments[0]))"
    }
}
