import TomboloCore
import TomboloJSON

/// `start`, `update` and `end`.
enum ActivityCommands {
    static func start(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let id = invocation.arguments[0]
        guard let type = invocation.text(.type) else {
            throw ProgramError.usage(
                "start needs --type, the app's ActivityAttributes type",
                remedy: "tombolo start \(id) --type TYPE")
        }
        let body = try JSON.object { writer in
            writer.member("type", type)
            if let app = invocation.text(.app) { writer.member("app", app) }
            try writeAudience(&writer, invocation)
            if let path = invocation.text(.attributes) {
                writer.member("attributes", try StateInput.object(path: path))
            }
            writer.member("state", try StateInput.read(context, readsInput: true) ?? .emptyObject)
            try writeCommon(&writer, invocation)
        }.bytes
        let path = PathText.query(
            "/v1/activities/\(PathText.escaped(id))",
            [("restart", invocation.isGiven(.restart) ? "true" : nil)])
        return try await send(context, "PUT", path, body, name: id)
    }

    static func update(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let id = invocation.arguments[0]
        let hasOther =
            invocation.text(.alertTitle) != nil || invocation.text(.relevance) != nil
            || invocation.text(.staleAfter) != nil
        let body = try JSON.object { writer in
            if let state = try StateInput.read(context, readsInput: !hasOther) {
                writer.member(invocation.isGiven(.replace) ? "replace" : "state", state)
            } else if !hasOther {
                throw ProgramError.usage(
                    "update has nothing to change", remedy: "tombolo update \(id) -s NAME=VALUE")
            }
            try writeCommon(&writer, invocation)
        }.bytes
        let path = "/v1/activities/\(PathText.escaped(id))"
        return try await send(context, "PATCH", path, body, name: id)
    }

    static func end(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let type = invocation.text(.type)
        guard (invocation.argument(0) == nil) == (type != nil) else {
            throw ProgramError.usage(
                type == nil ? "end needs an ID, or --type" : "end takes an ID or --type, not both",
                remedy: "tombolo end ID, or tombolo end --type TYPE")
        }
        let body = try JSON.object { writer in
            if let type {
                writer.object("where") {
                    $0.optionals([("type", type), ("user", invocation.text(.user))])
                }
            }
            if let state = try StateInput.read(context, readsInput: false) {
                writer.member("state", state)
            }
            if let dismiss = invocation.text(.dismiss) { writer.member("dismiss", dismiss) }
            try writeAlert(&writer, invocation)
        }.bytes
        guard let id = invocation.argument(0) else {
            return try await send(context, "POST", "/v1/activities/end", body, name: type)
        }
        let path = "/v1/activities/\(PathText.escaped(id))/end"
        return try await send(context, "POST", path, body, name: id)
    }

    // MARK: The request

    private static func writeAudience(
        _ writer: inout JSONWriter, _ invocation: Invocation
    ) throws(ProgramError) {
        let devices = invocation.all(.device)
        let user = invocation.text(.user)
        let channel = invocation.text(.channel)
        guard [!devices.isEmpty, user != nil, channel != nil].count(where: { $0 }) <= 1 else {
            throw .usage(
                "--device, --user and --channel exclude each other", remedy: "tombolo help start")
        }
        writer.optionals(
            invocation.values([
                ("renew", .renew), ("on_token_gone", .onTokenGone),
                ("on_unknown_start", .onUnknownStart),
            ]))
        for (flag, name) in [(Flag.startWait, "start_wait"), (.endAfter, "end_after")] {
            if let span = invocation.duration(flag) { writer.member(name, span.text) }
        }
        guard !devices.isEmpty || user != nil || channel != nil else { return }
        writer.object("audience") { writer in
            if let route = invocation.text(.startRoute) { writer.member("start", route) }
            if let user {
                writer.member("user", user)
            } else if let channel {
                writer.member("channel", channel)
            } else if devices.count == 1 {
                writer.member("device", devices[0])
            } else {
                writer.array("devices", of: devices) { $0.string($1) }
            }
        }
    }

    /// Writes the members that a start and an update share.
    private static func writeCommon(
        _ writer: inout JSONWriter, _ invocation: Invocation
    ) throws(ProgramError) {
        try writeAlert(&writer, invocation)
        if let text = invocation.text(.relevance) {
            guard let relevance = Double(text), relevance.isFinite else {
                throw .usage("--relevance \(text) is not a number", remedy: "--relevance 1.0")
            }
            writer.member("relevance", relevance)
        }
        if let span = invocation.duration(.staleAfter) { writer.member("stale_after", span.text) }
        if let urgency = invocation.text(.urgency) { writer.member("urgency", urgency) }
    }

    private static func writeAlert(
        _ writer: inout JSONWriter, _ invocation: Invocation
    ) throws(ProgramError) {
        let body = invocation.text(.alertBody)
        guard let title = invocation.text(.alertTitle) else {
            guard body == nil else {
                throw .usage("--alert-body needs --alert-title", remedy: "add --alert-title TEXT")
            }
            return
        }
        writer.object("alert") { $0.optionals([("title", title), ("body", body)]) }
    }

    private static func send(
        _ context: CommandContext, _ method: String, _ path: String, _ body: [UInt8], name: String?
    ) async throws -> ExitStatus {
        let invocation = context.invocation
        var fields = RelayRequest.Fields()
        if let key = invocation.text(.idempotencyKey) { fields.append(("idempotency-key", key)) }
        if let version = invocation.text(.ifMatch) {
            fields.append(("if-match", version.hasSuffix("\"") ? version : "\"\(version)\""))
        }
        if invocation.isGiven(.ifNew) { fields.append(("if-none-match", "*")) }
        if let wait = invocation.duration(.wait) {
            fields.append(("prefer", "wait=\(max(1, Int(wait.seconds.rounded(.up))))"))
        }
        let answer: RelayAnswer
        do {
            answer = try await context.reply(
                to: .write(context, method, path, fields: fields, body: body), name: name)
        } catch let error as ProgramError {
            throw hinted(error, invocation)
        }
        try ChangeReport.present(answer, name: name ?? "", context)
        // The event is stored, but Apple refused a push for which the command waited.
        let deliveries = try answer.document().root["deliveries"]
        let isRefused = deliveries?.elements.contains { $0["result"]?.string == "rejected" }
        return isRefused == true ? .partly : .succeeded
    }

    /// Adds a hint to the error if the type requires a string and `-s` gave a number or other JSON.
    private static func hinted(_ error: ProgramError, _ invocation: Invocation) -> ProgramError {
        let wrong = invocation.pairs(.field).first { name, text in
            error.cause.contains("/\(name): must be string, not ")
                && StateInput.value(text).document.root.kind != .string
        }
        guard let (name, text) = wrong else { return error }
        var hinted = error
        hinted.remedy = "--text \(name)='\(text)'"
        return hinted
    }
}
