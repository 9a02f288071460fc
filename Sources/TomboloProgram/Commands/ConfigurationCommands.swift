import Glibc
import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloPostgres

/// `config check`, `config show` and `config doc`.
enum ConfigurationCommands {
    /// Checks the configuration as `serve` would, and prints every fault. Returns status 7 if the
    /// relay would start but there are warnings. With `--connect` it also tries the database:
    /// status 1 if that cannot be used at all, 6 if something is missing in it.
    static func check(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        sayWhereNoFileIsRead(sources, context)
        let checked = try sources.checked()
        let configuration = checked.configuration
        let file = sources.file?.path ?? "the configuration without a file"
        let database = context.invocation.isGiven(.connect) ? configuration.database : nil
        guard database != nil || !context.invocation.isGiven(.connect) else {
            throw ProgramError.usage(
                "--connect tries a database, and \(file) names none",
                remedy: "tombolo config check, without --connect")
        }
        let count = "\(configuration.apps.count) app\(configuration.apps.count == 1 ? "" : "s")"
        try context.terminal.print(
            "\(file) is in order: listens on \(configuration.listen), stores in "
                + "\(configuration.database?.postgres.title ?? configuration.data ?? ""), \(count)")
        let notices = checked.notices(at: SystemClock().now())
        for notice in notices { context.terminal.complain("tombolo: \(sources.line(notice))\n") }
        let findings = database?.examine() ?? []
        try context.terminal.show(findings.map(\.text).joined())
        guard findings.contains(where: \.isTrouble) else {
            return notices.isEmpty ? .succeeded : .lint
        }
        return findings.contains(where: \.isOK) ? .partly : .failed
    }

    /// Warns that no configuration file is read. Like `serve`, the command does not search for one.
    private static func sayWhereNoFileIsRead(
        _ sources: ConfigurationSources, _ context: CommandContext
    ) {
        guard sources.file == nil else { return }
        let name = "tombolo.json"
        let file = access(name, F_OK) == 0 ? name : "FILE"
        context.terminal.complain(
            "tombolo: no file is read, only flags, the environment and defaults\n"
                + "  try: tombolo \(context.invocation.commandName) \(file)\n")
    }

    /// Prints the configuration in force. It contains the paths of secrets, but never secrets.
    static func show(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        sayWhereNoFileIsRead(sources, context)
        let rows = sources.configuration.rows
        let showsOrigin = context.invocation.isGiven(.origin)
        if context.printsTable {
            let cells = rows.map { row in
                let name = row.pointer.dropFirst().split(separator: "/").joined(separator: ".")
                return [name, row.value.description]
                    + (showsOrigin ? [sources.place(of: row.pointer)] : [])
            }
            try context.terminal.write(
                TextTable(["KEY", "VALUE"] + (showsOrigin ? ["ORIGIN"] : []), cells))
        } else if showsOrigin {
            for row in rows {
                try context.terminal.printObject { writer in
                    writer.member("key", row.pointer)
                    writer.member("value", row.value)
                    writer.member("origin", sources.place(of: row.pointer))
                }
            }
        } else {
            try context.terminal.write(line: sources.configuration.json)
        }
        return .succeeded
    }

    /// Prints the reference of all configuration keys.
    static func document(_ context: CommandContext) async throws -> ExitStatus {
        let reference = ConfigurationReference()
        guard !context.printsTable else {
            try context.terminal.write(reference.markdown.utf8)
            return .succeeded
        }
        for row in reference.rows {
            try context.terminal.printObject { writer in
                writer.member("key", row.key)
                writer.member("value", row.range.replacing("`", with: ""))
                if let standard = row.standard { writer.member("default", standard) }
                writer.member("required", row.isRequired)
                writer.member("applied_by", row.change)
                writer.member("meaning", row.meaning)
            }
        }
        return .succeeded
    }
}
