import Glibc
import TomboloCore
import TomboloCrypto
import TomboloJSON

/// `config check` and `config show`.
enum ConfigurationCommands {
    /// Says every fault of the configuration and of the files it names, or that there is none.
    static func check(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        let faults = ConfigurationFiles(sources).faults
        guard faults.isEmpty else {
            throw ProgramError.usage(
                faults.map(\.text).joined(separator: "\ntombolo: "), remedy: faults[0].remedy)
        }
        let configuration = sources.configuration
        let file = sources.file?.path ?? "the configuration without a file"
        try context.terminal.print(
            "\(file) is in order: listens on \(configuration.listen), "
                + "\(configuration.apps.count) app\(configuration.apps.count == 1 ? "" : "s")")
        return .succeeded
    }

    /// Prints the configuration in force; secrets are in files, so there is none in it.
    static func show(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
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
}
