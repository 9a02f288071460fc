import TomboloCore
import TomboloJSON

/// `lint`: finds mistakes that a phone would not report. It needs no relay and no phone.
enum LintCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let path = context.invocation.arguments[0]
        let json = try StateInput.object(path: path)
        let view = json.document.root
        let type = try context.invocation.text(.typeFile).map(TypeFile.read)
        let now = SystemClock().now()
        if view["aps"] != nil {
            return try LintReport(
                PayloadLint.lints(payload: json.bytes, type: type, now: now)
            ).print(context)
        }
        if let payload = view["payload"], payload["aps"] != nil {
            let lints = PayloadLint.lints(
                payload: Array(payload.raw), headers: headers(view["headers"]), type: type,
                now: now)
            return try LintReport(lints).print(context)
        }
        guard view["state"] != nil, view["type"] != nil else {
            throw ProgramError.usage(
                "\(path) is neither a push ({\"aps\":…}, or {\"headers\":…,\"payload\":{\"aps\":…}}) "
                    + "nor a start ({\"type\":…,\"state\":…})",
                remedy: "tombolo help lint")
        }
        return try LintReport(try start(json, type, now, named: path)).print(context)
    }

    /// Reads the headers. Their names may have any case, as in HTTP.
    private static func headers(_ view: JSONView?) -> PayloadLint.Headers {
        var headers = PayloadLint.Headers()
        guard let view, view.kind == .object else { return headers }
        for (name, value) in view.members {
            let text = value.string ?? String(decoding: value.raw, as: UTF8.self)
            switch name.lowercased() {
            case "apns-topic": headers.topic = text
            case "apns-push-type": headers.pushType = text
            case "apns-priority": headers.priority = text
            case "apns-expiration": headers.expiration = text
            case "apns-channel-id": headers.channel = text
            default: break
            }
        }
        return headers
    }

    /// Lints that depend on a relay's devices and types, so this command leaves them out.
    private static let knownToRelay: [Lint.Code] = [
        .deviceNotRegistered, .userWithoutDevice, .typeNotRegistered, .startNeedsNewerOS,
    ]

    /// The lints that a relay with only this app would report for a start.
    private static func start(
        _ json: JSON, _ type: ActivityType?, _ now: Instant, named path: String
    ) throws(ProgramError) -> [Lint] {
        guard let id = Identifier("lint") else { preconditionFailure("lint is an identifier") }
        let view = json.document.root
        let app = view["app"]?.string ?? "app"
        var core = Core(
            configuration: CoreConfiguration(apps: [
                .init(tenant: .main, id: app, environment: .sandbox, allowsLab: true)
            ]), seed: 0)
        var effects = Effects()
        core.step(
            .clock(lead: now - Instant(nanoseconds: 0)), now: Instant(nanoseconds: 0),
            effects: &effects)
        if let type, let name = view["type"]?.string {
            core.step(
                .type(type, name: name, app: app, .main, Ticket(0)), now: Instant(nanoseconds: 0),
                effects: &effects)
        }
        do {
            let command = Command(
                activity: ActivityKey(tenant: .main, id: id),
                content: try Command.Content(kind: .start, view), body: json.bytes)
            return try core.dryRun(command, now: Instant(nanoseconds: 0)).lint.filter {
                !knownToRelay.contains($0.code)
            }
        } catch let error as FieldErrors {
            let first = error.errors.map { "\($0.pointer) \($0.message)" }.first ?? ""
            throw ProgramError("\(path): \(first)", remedy: "tombolo help start")
        } catch let refusal as Refusal {
            let first = refusal.errors.map { ": \($0.pointer) \($0.message)" }.first ?? ""
            throw ProgramError("\(path): \(refusal.detail)\(first)")
        } catch {
            throw ProgramError("\(path): \(error)")
        }
    }
}

/// Prints lints, for people and for scripts.
struct LintReport {
    private let lints: [Lint]

    init(_ lints: [Lint]) { self.lints = lints }

    /// Prints the lints. Returns status 7 if there are any.
    func print(_ context: CommandContext) throws(ProgramError) -> ExitStatus {
        if context.printsTable {
            let text = lints.map { lint in
                "\(lint.pointer.isEmpty ? "/" : lint.pointer): \(lint.message) "
                    + "[\(lint.code.rawValue)]\n"
            }
            try context.terminal.show(lints.isEmpty ? "nothing to say\n" : text.joined())
        } else {
            try context.terminal.printObject { writer in
                writer.objects("lint", lints) { writer, lint in
                    writer.member("code", lint.code.rawValue)
                    writer.member("pointer", lint.pointer)
                    writer.member("message", lint.message)
                }
            }
        }
        return lints.isEmpty ? .succeeded : .lint
    }
}
