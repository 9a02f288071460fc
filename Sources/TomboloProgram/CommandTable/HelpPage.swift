/// The pages of `help`, made from the table.
struct HelpPage {
    private let table: CommandTable

    init(table: CommandTable) { self.table = table }

    /// The page for a command or a group; for an empty path, the page of the whole program.
    func text(for path: [String]) -> String {
        if let command = table.commands.first(where: { $0.path == path }) { return page(command) }
        return overview(of: path)
    }

    private func overview(of group: [String]) -> String {
        var text = group.isEmpty ? "\(table.summary)\n\n" : ""
        text += "Usage: \(table.program) \(group.isEmpty ? "COMMAND" : group[0] + " COMMAND") …\n"
        for section in table.sections {
            let commands = section.commands.filter { $0.path.starts(with: group) }
            guard !commands.isEmpty else { continue }
            text += group.isEmpty ? "\n\(section.title)\n" : "\n"
            text += columns(commands.map { (usage($0), $0.summary) })
        }
        text += "\n\(table.program) help COMMAND tells a command's flags, with examples.\n"
        guard group.isEmpty else { return text }
        text += "\(table.program) help --man prints all of it as a manual page.\n"
        text += "\nExit codes:\n"
        text += columns(ExitStatus.allCases.map { ("\($0.rawValue)", $0.meaning) })
        return text
    }

    private func page(_ command: Subcommand) -> String {
        var text = "\(command.summary)\n\nUsage: \(table.program) \(usage(command))"
        text += command.flags.isEmpty ? "\n" : " [flags]\n"
        if !command.arguments.isEmpty {
            text += "\nArguments:\n" + columns(command.arguments.map { ($0.name, $0.summary) })
        }
        if !command.flags.isEmpty {
            text += "\nFlags:\n" + columns(command.flags.map { (spelling($0), explanation($0)) })
        }
        for paragraph in command.details { text += "\n\(paragraph)\n" }
        if !command.examples.isEmpty {
            text += "\nExamples:\n" + command.examples.map { "  \($0)\n" }.joined()
        }
        let exits = ([.succeeded, .failed, .usage] + command.statuses).map {
            "\($0.rawValue) \($0.meaning)"
        }
        return text + "\nExit codes: " + exits.joined(separator: " · ") + "\n"
    }

    func usage(_ command: Subcommand) -> String {
        let arguments = command.arguments.map {
            ($0.isOptional ? "[\($0.name)]" : $0.name) + ($0.repeats ? "…" : "")
        }
        return (command.path + arguments).joined(separator: " ")
    }

    func spelling(_ flag: Flag) -> String {
        let short = flag.short.map { "-\($0), " } ?? ""
        return "\(short)--\(flag.name)" + (flag.value.map { " \($0.placeholder)" } ?? "")
    }

    func explanation(_ flag: Flag) -> String {
        var text = flag.summary
        if flag.repeats { text += "; may be repeated" }
        if let value = flag.defaultValue { text += " (default \(value))" }
        if let variable = flag.environment {
            text += flag.isSecret ? " [\(variable), \(variable)_FILE]" : " [\(variable)]"
        }
        return text
    }

    private func columns(_ rows: [(String, String)]) -> String {
        let width = min(34, rows.map { $0.0.count }.max() ?? 0)
        return rows.map { left, right in
            let padding = String(repeating: " ", count: max(0, width - left.count))
            let gap = left.count > width ? "\n  \(String(repeating: " ", count: width))" : padding
            return "  \(left)\(gap)  \(right)\n"
        }.joined()
    }
}
