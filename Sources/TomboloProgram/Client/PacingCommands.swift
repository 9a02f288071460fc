import TomboloJSON

/// `pause`, `resume`, `upstream`, `delivery` and `budget`.
enum PacingCommands {
    static func pause(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let named = invocation.values([("app", .app), ("type", .type), ("activity", .ofActivity)])
        let isBare = named.allSatisfy { $0.value == nil } && !invocation.isGiven(.pausesAll)
        if isBare, !invocation.isGiven(.alertsOnly), invocation.text(.pauseReason) == nil {
            return try await pauseList(context)
        }
        let count = named.count { $0.value != nil } + (invocation.isGiven(.pausesAll) ? 1 : 0)
        guard count == 1 else {
            throw ProgramError.usage(
                "pause needs exactly one of --all, --app, --type and --activity",
                remedy: "tombolo pause --all")
        }
        let body = JSON.object { writer in
            if invocation.isGiven(.pausesAll) { writer.member("all", true) }
            writer.optionals(named)
            if invocation.isGiven(.alertsOnly) { writer.member("alerts_only", true) }
            if let reason = invocation.text(.pauseReason) { writer.member("reason", reason) }
        }.bytes
        return try await ReadCommands.show(
            context, .write(context, "POST", "/v1/pauses", body: body), name: nil)
    }

    private static func pauseList(_ context: CommandContext) async throws -> ExitStatus {
        try await ReadCommands.list(
            context, "/v1/pauses", rows: "pauses", isPaged: false,
            columns: [
                "id", "all", "app", "type", "activity", "alerts_only", "reason", "since", "by",
            ])
    }

    /// Ends one pause, or all with `--all`. Without either, it lists the pauses and ends none,
    /// because a pause may belong to somebody else.
    static func resume(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let isAll = invocation.isGiven(.pausesAll)
        guard invocation.argument(0) == nil || !isAll else {
            throw ProgramError.usage(
                "resume takes a PAUSE or --all, not both", remedy: "tombolo help resume")
        }
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        var names = invocation.argument(0).map { [$0] } ?? []
        if names.isEmpty {
            let pauses = try await client.view("/v1/pauses", name: nil).items("pauses")
            names = pauses.compactMap { $0["id"]?.string }
            guard isAll || names.isEmpty else {
                throw ProgramError.usage(
                    "resume needs a PAUSE or --all; in force: \(names.joined(separator: ", "))",
                    remedy: "tombolo pause, which lists them; tombolo resume \(names[0])")
            }
        }
        if names.isEmpty, context.printsTable { try context.terminal.print("nothing is paused") }
        let result = invocation.isGiven(.dryRun) ? "would be resumed" : "resumed"
        for name in names {
            let path = "/v1/pauses/\(PathText.escaped(name))"
            let answer = try await client.send(.write(context, "DELETE", path), name: name)
            try context.terminal.write(
                context.printsTable ? Array("\(name) \(result)\n".utf8) : answer.line)
        }
        return .succeeded
    }

    static func retryUpstream(_ context: CommandContext) async throws -> ExitStatus {
        let app = context.invocation.arguments[0]
        let path = PathText.query(
            "/v1/upstreams/\(PathText.escaped(app))/retry",
            [("environment", context.invocation.text(.initEnvironment))])
        let answer = try await context.reply(to: .write(context, "POST", path), name: app)
        let tries = context.invocation.isGiven(.dryRun) ? "would try" : "tries"
        try context.present(answer) { view in
            for upstream in view.items("upstreams") {
                let result =
                    upstream["closed"]?.bool == true
                    ? "a push \(tries) at once; they waited: \(upstream["cause"]?.string ?? "")"
                    : "its pushes do not wait"
                let environment = upstream["environment"]?.string ?? ""
                try context.terminal.print("\(app) (\(environment)): \(result)")
            }
        }
        return .succeeded
    }

    static func deliveryList(_ context: CommandContext) async throws -> ExitStatus {
        let version = context.invocation.integer(.onlyVersion).map(String.init)
        return try await ReadCommands.list(
            context, PathText.query("/v1/deliveries", [("version", version)]),
            filters: [
                ("activity", .ofActivity), ("device", .onlyDevice), ("channel", .onlyChannel),
                ("user", .ofUser), ("result", .onlyResult), ("reason", .reason), ("from", .from),
                ("until", .until),
            ], rows: "deliveries",
            columns: [
                "id", "at", "activity", Column("TO", "device", "channel"), "version",
                Column("EVENT", "push.event"),
                Column("PURPOSE", "push.purpose"), "result",
                Column("STATUS", "push.status"), "reason",
                Column("WAITED MS", "waited_ms"), Column("HELD BY", "held.0.reason"),
                Column("HELD MS", "held.0.ms"),
            ])
    }

    static func deliveryShow(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        return try await ReadCommands.show(
            context, RelayRequest("GET", "/v1/deliveries/\(PathText.escaped(id))"), name: id)
    }

    static func budgetShow(_ context: CommandContext) async throws -> ExitStatus {
        try await ReadCommands.list(
            context, "/v1/budgets", filters: [("activity", .ofActivity), ("device", .onlyDevice)],
            rows: "destinations",
            columns: [
                "activity", "device",
                Column("PUSHES LEFT", "left", none: "no limit"),
                Column("PUSHES LEFT, ALL CARDS", "device_left", none: "no limit"),
                Column("STARTS LEFT", "starts_left", none: "no limit"),
                Column("LEFT THIS HOUR (ESTIMATED)", "phone.left", none: "no limit"),
                Column("NEXT PUSH FROM", "next_at"),
                Column("NEXT AT 10 (HIGH) FROM", "high_at"),
            ])
    }
}
