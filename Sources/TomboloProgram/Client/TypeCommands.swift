import TomboloCore
import TomboloJSON

/// `type put`, `type show`, `type check` and `type codegen`.
enum TypeCommands {
    static func put(_ context: CommandContext) async throws -> ExitStatus {
        let name = context.invocation.arguments[0]
        var body = try StateInput.object(path: context.invocation.arguments[1])
        if let app = context.invocation.text(.app) {
            body = body.setting(JSONPointer(tokens: ["app"]), to: StateInput.value(app)) ?? body
        }
        let request = RelayRequest.write(context, "PUT", path(name, nil), body: body.bytes)
        return try await context.present(request, name: name) { view in
            let lints = view.items("lint").map { "\n  lint: \($0["message"]?.string ?? "")" }
            let would = context.invocation.isGiven(.dryRun) ? "would be " : ""
            try context.terminal.print(
                "\(name): \(would)\(view["result"]?.string ?? "stored")" + lints.joined())
        }
    }

    static func show(_ context: CommandContext) async throws -> ExitStatus {
        let name = context.invocation.arguments[0]
        try context.terminal.write(try await fetch(context, name).line)
        return .succeeded
    }

    /// Checks a state against a type, which is in a file or registered with the relay.
    static func check(_ context: CommandContext) async throws -> ExitStatus {
        let name = context.invocation.arguments[0]
        let state = try StateInput.object(path: context.invocation.arguments[1])
        let type: ActivityType
        if let file = context.invocation.text(.typeFile) {
            type = try TypeFile.read(file)
        } else {
            let answer = try await fetch(context, name).document().root
            let json = JSON.object { writer in
                for (name, value) in answer.members where name != "type" {
                    writer.member(name, value.json)
                }
            }
            type = try TypeFile.type(json, named: name)
        }
        let lints =
            type.faults(in: state, at: "").map {
                Lint(.stateDoesNotDecode, $0.pointer, $0.message)
            } + type.unknownMembers(in: state)
        return try LintReport(lints).print(context)
    }

    /// Prints the code of a type for an app.
    static func codegen(_ context: CommandContext) async throws -> ExitStatus {
        let name = context.invocation.arguments[0]
        guard context.invocation.isGiven(.swift) else {
            throw ProgramError.usage(
                "type codegen needs the language: --swift",
                remedy: "tombolo type codegen \(name) --swift")
        }
        let type = try await fetch(context, name).document().root
        guard SwiftNames.isType(name) else {
            throw ProgramError(
                "no Swift type can have the name \"\(name)\", and Apple starts a card by that name",
                remedy: "register it under another name: tombolo type put NAME FILE",
                status: .notFoundOrConflict)
        }
        guard let source = SwiftAttributes.source(of: type, named: name) else {
            throw ProgramError(
                "the type \(name) has no schema that says what is in a state",
                remedy: "register it again with a JSON Schema in \"state\": "
                    + "tombolo type put \(name) FILE",
                status: .notFoundOrConflict)
        }
        try context.terminal.write(source.utf8)
        return .succeeded
    }

    private static func fetch(
        _ context: CommandContext, _ name: String
    ) async throws -> RelayAnswer {
        try await context.reply(
            to: RelayRequest("GET", path(name, context.invocation.text(.app))), name: name)
    }

    private static func path(_ name: String, _ app: String?) -> String {
        PathText.query("/v1/types/\(PathText.escaped(name))", [("app", app)])
    }
}

enum TypeFile {
    static func read(_ path: String) throws(ProgramError) -> ActivityType {
        try type(try StateInput.object(path: path), named: path)
    }

    static func type(_ json: JSON, named name: String) throws(ProgramError) -> ActivityType {
        do {
            return try ActivityType(reading: json.document.root)
        } catch {
            let first = error.errors.map { "\($0.pointer) \($0.message)" }.first ?? ""
            throw .usage("\(name) is not a type: \(first)", remedy: "tombolo help type put")
        }
    }
}
