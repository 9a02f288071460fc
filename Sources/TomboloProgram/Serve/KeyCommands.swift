import Glibc
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLog
import TomboloServer

/// `key mint`, `key ls`, `key rm` and `key rotate`.
enum KeyCommands {
    /// `key mint`: if no relay uses the log, writes the key into it. If one does, asks that relay
    /// with `--key`; without it, the error says how.
    static func mint(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let text = try invocation.needed(.scope, like: "key mint --scope produce,observe")
        guard let scopes = ScopeSet(list: text) else {
            throw ProgramError.usage(
                "--scope \(text) is not a list of produce, observe, operate, device:ID",
                remedy: "tombolo key mint --scope produce,observe")
        }
        guard binding(context).fits(scopes) else {
            throw ProgramError.usage(
                "--user and --app are for a key of scope device:ID",
                remedy: "tombolo key mint --scope device:phone-1 --user u42")
        }
        try checkTraits(context)
        guard let home = LogHome(try ConfigurationSources(invocation).configuration) else {
            return try await ask(context, scopes)
        }
        guard !invocation.isGiven(.dryRun) else {
            throw ProgramError.usage(
                "--dry-run asks a relay, and --data writes without one",
                remedy: "tombolo key mint --scope \(text) --dry-run --relay ORIGIN")
        }
        var newData: String?
        if case .directory(let data) = home, access("\(data)/tombolo.db", F_OK) != 0 {
            newData = data
        }
        do {
            let status = try await write(context, scopes, home)
            if let newData { sayThatItIsNew(newData, context) }
            return status
        } catch EventLogError.owned(let cause, _) {
            guard invocation.text(.key) == nil else { return try await ask(context, scopes) }
            throw ProgramError(
                cause,
                remedy: "tombolo key mint --scope \(text) --relay ORIGIN --key KEY, with a key of "
                    + "scope operate; without one stop the relay first",
                status: .notFoundOrConflict)
        }
    }

    /// Warns that the log is new: maybe the directory is wrong; no running relay accepts the key.
    private static func sayThatItIsNew(_ data: String, _ context: CommandContext) {
        context.terminal.complain(
            "tombolo: \(data) had no log: a new one is made there, for a new relay; the key fits no "
                + "other\n")
    }

    private static func binding(_ context: CommandContext) -> KeyBinding {
        KeyBinding(
            user: context.invocation.text(.boundUser), app: context.invocation.text(.boundApp))
    }

    private static func life(_ context: CommandContext) -> Span? {
        context.invocation.text(.keyLife).flatMap {
            Span(text: $0, atMost: KeyTraits.lives.upperBound)
        }
    }

    private static func checkTraits(_ context: CommandContext) throws(ProgramError) {
        let invocation = context.invocation
        if let name = invocation.text(.keyName), let objection = KeyTraits.objection(toName: name) {
            throw .usage("--name \(objection)", remedy: "--name \"the shop's backend\"")
        }
        for flag in [Flag.boundUser, .boundApp] {
            if let text = invocation.text(flag), let objection = KeyBinding.objection(to: text) {
                throw .usage("--\(flag.name) \(objection)", remedy: "--\(flag.name) u42")
            }
        }
        if let text = invocation.text(.keyLife), life(context).map(KeyTraits.lives.contains) != true
        {
            throw .usage(
                "--expires-in \(text) is not a duration of at most ten years",
                remedy: "--expires-in 90d")
        }
    }

    private static func ask(
        _ context: CommandContext, _ scopes: ScopeSet
    ) async throws -> ExitStatus {
        let body = JSON.object { writer in
            writer.array("scopes", of: scopes.scopes) { $0.string($1.text) }
            binding(context).write(to: &writer)
            writer.optionals(
                context.invocation.values([("name", .keyName), ("expires_in", .keyLife)]))
        }.bytes
        return try await make(context, "/v1/keys", body, name: nil)
    }

    private static func make(
        _ context: CommandContext, _ path: String, _ body: [UInt8], name: String?
    ) async throws -> ExitStatus {
        let answer = try await context.reply(
            to: .write(context, "POST", path, body: body), name: name)
        try print(context, try answer.document().root)
        return .succeeded
    }

    /// `key rotate`: replaces a key.
    static func rotate(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let body = JSON.object { $0.optionals([("grace", context.invocation.text(.grace))]) }.bytes
        return try await make(context, "/v1/keys/\(PathText.escaped(id))/rotate", body, name: id)
    }

    /// `key ls`: lists the keys.
    static func list(_ context: CommandContext) async throws -> ExitStatus {
        let path = PathText.query("/v1/keys", [("tenant", context.invocation.text(.keysOf))])
        return try await ReadCommands.list(
            context, path, rows: "keys",
            columns: [
                "id", "name", "created_by", "created_at", "last_used_at", "expires_at", "scopes",
            ])
    }

    /// `key rm`: revokes a key.
    static func remove(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let path = PathText.query(
            "/v1/keys/\(PathText.escaped(id))", [("tenant", context.invocation.text(.keysOf))])
        return try await ReadCommands.show(context, .write(context, "DELETE", path), name: id)
    }

    private static func write(
        _ context: CommandContext, _ scopes: ScopeSet, _ home: LogHome
    ) async throws -> ExitStatus {
        guard let tenant = context.invocation.text(.tenant).flatMap(Identifier.init) else {
            throw ProgramError.usage(
                "--tenant is 1 to 128 letters, digits or . _ : @ -", remedy: "--tenant main")
        }
        let (log, _) = try home.open()
        do {
            let now = SystemClock().now()
            let traits = KeyTraits(
                name: context.invocation.text(.keyName),
                expiresAt: life(context).map { now + $0 })
            let pepper = try home.pepper(keyCount: try await AccessControl.keyCount(in: log))
            let minted = try await AccessControl.mint(
                into: log, pepper: pepper, environment: "live",
                tenant: TenantID(tenant), scopes: scopes, binding: binding(context),
                traits: traits, now: now)
            await log.close()
            var writer = JSONWriter()
            minted.write(to: &writer)
            try print(context, writer.json.document.root)
            return .succeeded
        } catch {
            await log.close()
            throw error
        }
    }

    /// Prints `{"id","key","scopes"}`; on a terminal, only the key.
    private static func print(_ context: CommandContext, _ view: JSONView) throws {
        guard context.printsTable else {
            let names = [
                "dry_run", "id", "key", "scopes", "user", "app", "name", "expires_at", "replaces",
            ]
            return try context.terminal.printObject { writer in
                for name in names {
                    if let value = view[name] { writer.member(name, value.json) }
                }
            }
        }
        guard let key = view["key"]?.string else {
            return try context.terminal.print("it would be made")
        }
        try context.terminal.print(key)
        context.terminal.complain("It is not shown again.\n")
        if let old = view["replaces"], let id = old["id"]?.string,
            let end = old["expires_at"]?.string
        {
            context.terminal.complain("The key \(id) opens until \(end).\n")
        }
    }
}
