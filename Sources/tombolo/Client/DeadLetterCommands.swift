import TomboloCore
import TomboloJSON

/// `dead retry` and `delivery retry`. (`dead ls` is in `ReadCommands`.)
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
        return try await send(
            context, .write(context, "POST", "/v1/dead-letters/retry", body: writer.bytes),
            name: id)
    }

    static func retryDelivery(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let path = "/v1/deliveries/\(PathText.escaped(id))/retry"
        return try await send(context, .write(context, "POST", path), name: id)
    }

    private static func send(
        _ context: CommandContext, _ request: RelayRequest, name: String?
    ) async throws -> ExitStatus {
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let answer = try await client.send(request, name: name)
        let view = try answer.document().root
        let retried = view["retried"]?.integer ?? 0
        let lost = view["unreachable"]?.integer ?? 0
        let status: ExitStatus =
            lost == 0 ? .succeeded : retried > 0 ? .partly : .notFoundOrConflict
        guard OutputFormat(context) == .table else {
            try context.terminal.write(answer.line)
            return status
        }
        try context.terminal.print(
            RetryReport(view, isDryRun: context.invocation.isGiven(.dryRun)).text)
        return status
    }
}

/// The result of a retry, for people.
struct RetryReport {
    private let view: JSONView
    private let isDryRun: Bool

    init(_ view: JSONView, isDryRun: Bool) {
        self.view = view
        self.isDryRun = isDryRun
    }

    /// A line for the retried pushes, and one for each reason why others were kept.
    var text: String {
        let retried = view["retried"]?.integer ?? 0
        let go = isDryRun ? "would go" : retried == 1 ? "goes" : "go"
        let kept = (view["kept"].map { Array($0.elements) } ?? []).map { kept in
            let count = kept["count"]?.integer ?? 0
            let stay = isDryRun ? "would stay" : count == 1 ? "stays" : "stay"
            return "\n\(count) \(stay) in tombolo dead ls: \(kept["reason_text"]?.string ?? "")"
        }
        return "\(retried) \(go) again with the newest state" + kept.joined()
    }
}
