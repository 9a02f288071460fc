import TomboloCore
import TomboloJSON

/// `channel put`, `channel ls`, `channel show` and `channel rm`.
enum ChannelCommands {
    static func put(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        var writer = JSONWriter()
        writer.beginObject()
        if let app = invocation.text(.app) { writer.member("app", app) }
        if let world = invocation.text(.ofEnvironment) { writer.member("environment", world) }
        if let storage = invocation.text(.storage) { writer.member("storage", storage) }
        writer.endObject()
        return try await ReadCommands.show(
            context, .write(context, "PUT", path(context), body: writer.bytes),
            name: invocation.arguments[0])
    }

    static func list(_ context: CommandContext) async throws -> ExitStatus {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let answer = try await client.send(RelayRequest("GET", "/v1/channels"), name: nil)
        guard OutputFormat(context) == .table else {
            try context.terminal.write(answer.line)
            return .succeeded
        }
        let view = try answer.document().root
        let columns = ["channel", "app", "environment", "storage", "activity", "id"]
        var table = TextTable(columns.map { $0.uppercased() })
        for channel in view["channels"].map({ Array($0.elements) }) ?? [] {
            table.add(columns.map { channel[$0]?.string ?? "" })
        }
        let apps = view["apps"].map { Array($0.elements) } ?? []
        try context.terminal.write(table.text(for: context.terminal).utf8)
        try context.terminal.print(apps.map(quota).joined(separator: "\n"))
        return .succeeded
    }

    /// Maximum unknown channels in the table; the others are counted. `-o json` lists all.
    private static let unknownMax = 20

    private static func quota(_ app: JSONView) -> String {
        let name = "\(app["app"]?.string ?? "") \(app["environment"]?.string ?? "")"
        let used = app["used"]?.integer.map { "\($0)" } ?? "?"
        let limit = app["limit"]?.integer ?? 0
        let own = app["own"]?.integer ?? 0
        let unknown = app["unknown"].map { $0.elements.compactMap(\.string) } ?? []
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
