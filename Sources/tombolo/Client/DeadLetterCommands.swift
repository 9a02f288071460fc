import TomboloCore
import TomboloJSON

/// `dead retry`; the list is one of `ReadCommands`.
enum DeadLetterCommands {
    static func retry(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let id = invocation.argument(0)
        let filters = [
            ("activity", invocation.text(.ofActivity)), ("device", invocation.text(.ofDevice)),
            ("reason", invocation.text(.reason)),
        ]
        let isFiltered = filters.contains { $0.1 != nil }
        guard (id != nil) != (isFiltered || invocation.isGiven(.everything)) else {
            throw ProgramError.usage(
                "dead retry takes an ID, or --activity, --device, --reason, or --all",
                remedy: "tombolo dead retry --reason BadTopic")
        }
        var writer = JSONWriter()
        writer.beginObject()
        if let id {
            writer.member("id", id)
        } else {
            writer.name("where")
            writer.beginObject()
            for (name, value) in filters { if let value { writer.member(name, value) } }
            writer.endObject()
        }
        writer.endObject()
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let answer = try await client.send(
            .write(context, "POST", "/v1/dead-letters/retry", body: writer.bytes), name: id)
        let view = try answer.document().root
        let retried = view["retried"]?.integer ?? 0
        let lost = view["unreachable"]?.integer ?? 0
        let status: ExitStatus =
            lost == 0 ? .succeeded : retried > 0 ? .partly : .notFoundOrConflict
        guard OutputFormat(context) == .table else {
            try context.terminal.write(answer.line)
            return status
        }
        let go = context.invocation.isGiven(.dryRun) ? "would go" : "go"
        try context.terminal.print(
            "\(retried) \(go) again with the newest state"
                + (lost > 0
                    ? "; \(lost) have no card left to send to, and stay in tombolo dead ls" : ""))
        return status
    }
}
