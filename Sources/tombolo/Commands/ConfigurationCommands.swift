import Glibc
import TomboloCore
import TomboloCrypto
import TomboloJSON

/// `config check`, `config show` and `config doc`.
enum ConfigurationCommands {
    /// Checks the configuration as `serve` would, and prints every fault. Returns status 7 if the
    /// relay would start but there are warnings.
    static func check(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        sayWhereNoFileIsRead(sources, context)
        let checked = try sources.checked()
        let configuration = checked.configuration
        let file = sources.file?.path ?? "the configuration without a file"
        let count = "\(configuration.apps.count) app\(configuration.apps.count == 1 ? "" : "s")"
        try context.terminal.print(
            "\(file) is in order: listens on \(configuration.listen), stores in "
                + "\(configuration.data ?? ""), \(count)")
        let notices = checked.notices(at: SystemClock().now())
        for notice in notices { context.terminal.complain("tombolo: \(sources.line(notice))\n") }
        return notices.isEmpty ? .succeeded : .lint
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
        switch OutputFormat(context) {
        case .table:
            var table = TextTable(showsOrigin ? ["KEY", "VALUE", "ORIGIN"] : ["KEY", "VALUE"])
            for row in rows {
                let name = row.pointer.dropFirst().split(separator: "/").joined(separator: ".")
                let cells = [name, row.value.description]
                table.add(showsOrigin ? cells + [sources.place(of: row.pointer)] : cells)
            }
            try context.terminal.write(table.text(for: context.terminal).utf8)
        case .json, .jsonl:
            for row in rows where showsOrigin {
                var writer = JSONWriter()
                writer.beginObject()
                writer.member("key", row.pointer)
                writer.member("value", row.value)
                writer.member("origin", sources.place(of: row.pointer))
                writer.endObject()
                try context.terminal.write(writer.bytes + [10])
            }
            if !showsOrigin {
                try context.terminal.write(sources.configuration.json.bytes + [10])
            }
        }
        return .succeeded
    }

    /// Prints the reference of all configuration keys.
    static func document(_ context: CommandContext) async throws -> ExitStatus {
        let reference = ConfigurationReference()
        guard OutputFormat(context) != .table else {
            try context.terminal.write(reference.markdown.utf8)
            return .succeeded
        }
        for row in reference.rows {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("key", row.key)
            writer.member("value", row.range.replacing("`", with: ""))
            if let standard = row.standard { writer.member("default", standard) }
            writer.member("required", row.isRequired)
            writer.member("applied_by", row.change)
            writer.member("meaning", row.meaning)
            writer.endObject()
            try context.terminal.write(writer.bytes + [10])
        }
        return .succeeded
    }
}
