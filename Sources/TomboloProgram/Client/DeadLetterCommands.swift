import TomboloJSON

/// `dead retry` and `delivery retry`. (`dead ls` is in `ReadCommands`.)
enum DeadLetterCommands {
    static func retry(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let id = invocation.argument(0)
        let filters = invocation.values([
            ("activity", .ofActivity), ("device", .ofDevice), ("reason", .reason),
        ])
        let isFiltered = filters.contains { $0.value != nil }
        guard (id != nil) != (isFiltered || invocation.isGiven(.everything)) else {
            throw ProgramError.usage(
                "dead retry takes an ID, or --activity, --device, --reason, or --all",
                remedy: "tombolo dead retry --reason BadTopic")
        }
        let body = JSON.object { writer in
            if let id {
                writer.member("id", id)
            } else {
                writer.object("where") { $0.optionals(filters) }
            }
        }.bytes
        return try await send(
            context, .write(context, "POST", "/v1/dead-letters/retry", body: body),
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
        let answer = try await context.reply(to: request, name: name)
        let view = try answer.document().root
        try context.present(answer) { view in
            try context.terminal.print(
                RetryReport(view, isDryRun: context.invocation.isGiven(.dryRun)).text)
        }
        guard view["unreachable"]?.integer ?? 0 != 0 else { return .succeeded }
        return view["retried"]?.integer ?? 0 > 0 ? .partly : .notFoundOrConflict
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
        let kept = view.items("kept").map { kept in
            let count = kept["count"]?.integer ?? 0
            let stay = isDryRun ? "would stay" : count == 1 ? "stays" : "stay"
            return "\n\(count) \(stay) in tombolo dead ls: \(kept["reason_text"]?.string ?? "")"
        }
        return "\(retried) \(go) again with the newest state" + kept.joined()
    }
}
