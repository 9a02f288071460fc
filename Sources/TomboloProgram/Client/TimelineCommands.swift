import TomboloJSON

/// `timeline put`, `timeline ls`, `timeline show` and `timeline rm`.
enum TimelineCommands {
    static func put(_ context: CommandContext) async throws -> ExitStatus {
        let kind = context.invocation.arguments[0]
        var body = try StateInput.object(path: context.invocation.argument(1) ?? "-")
        if let app = context.invocation.text(.app) {
            body = body.setting(JSONPointer(tokens: ["app"]), to: StateInput.value(app)) ?? body
        }
        if let (name, text) = try subject(context) {
            let json = JSON.object { $0.member(name, text) }
            body = body.setting(JSONPointer(tokens: ["subject"]), to: json) ?? body
        }
        let request = RelayRequest.write(context, "PUT", path(kind), body: body.bytes)
        return try await context.present(request, name: kind) { view in
            let would = context.invocation.isGiven(.dryRun) ? "would be " : ""
            let wanted = view["reload"]?["wanted"]?.integer ?? 0
            let unreachable = view["reload"]?["unreachable"]?.integer ?? 0
            let left = unreachable > 0 ? ", \(unreachable) without a token for it" : ""
            try context.terminal.print(
                "\(kind): \(would)\(view["result"]?.string ?? "stored"); \(wanted) to reload\(left)"
            )
        }
    }

    static func list(_ context: CommandContext) async throws -> ExitStatus {
        let path = PathText.query("/v1/timelines", [("kind", context.invocation.argument(0))])
        return try await ReadCommands.list(
            context, path, rows: "timelines",
            columns: [
                "kind", "app", Column("USER", "subject.user"), Column("DEVICE", "subject.device"),
                Column("KEY", "subject.key"), Column("UPDATED", "updated_at"),
                Column("ASKS", "due_at", none: "never"),
            ])
    }

    /// Shows the entries that a widget would get now.
    static func show(_ context: CommandContext) async throws -> ExitStatus {
        let kind = context.invocation.arguments[0]
        let query = try query(
            context, path(kind) + "/entries", ("family", context.invocation.text(.family)))
        return try await context.present(RelayRequest("GET", query), name: kind) { view in
            let rows = view.items("entries").map { entry in
                [
                    entry["date"]?.string ?? "",
                    entry["provisional"]?.bool == true ? "yes" : "",
                    entry["content"].map { Printable.json($0.raw) } ?? "",
                    entry["url"]?.string ?? "",
                ]
            }
            try context.terminal.write(TextTable(["DATE", "PROVISIONAL", "CONTENT", "URL"], rows))
            let after = view["policy"]?["after"]?.string.map { "after \($0)" }
            try context.terminal.print("policy: \(after ?? view["policy"]?.string ?? "")")
        }
    }

    static func remove(_ context: CommandContext) async throws -> ExitStatus {
        let kind = context.invocation.arguments[0]
        return try await ReadCommands.show(
            context, .write(context, "DELETE", try query(context, path(kind))), name: kind)
    }

    private static func path(_ kind: String) -> String { "/v1/timelines/\(PathText.escaped(kind))" }

    /// The path, with the timeline's subject in the query. Throws if no flag gives a subject.
    private static func query(
        _ context: CommandContext, _ path: String, _ others: (name: String, value: String?)...
    ) throws -> String {
        guard let (name, text) = try subject(context) else {
            throw ProgramError.usage(
                "\(context.invocation.commandName) needs --user, --device or --config",
                remedy: "tombolo \(context.invocation.commandName) "
                    + "\(context.invocation.arguments[0]) --user USER")
        }
        return PathText.query(
            path, [(name, text), ("app", context.invocation.text(.app))] + others)
    }

    /// The timeline's subject; nil if no flag gives one.
    private static func subject(
        _ context: CommandContext
    ) throws -> (name: String, text: String)? {
        let given = [("user", Flag.subjectUser), ("device", .subjectDevice), ("key", .subjectKey)]
            .compactMap { name, flag in context.invocation.text(flag).map { (name, $0) } }
        guard given.count <= 1 else {
            throw ProgramError.usage(
                "\(context.invocation.commandName) takes one of --user, --device and --config",
                remedy: "tombolo timeline ls")
        }
        return given.first
    }
}
