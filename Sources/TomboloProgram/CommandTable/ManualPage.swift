/// `tombolo.1`, the manual page, in the format of man(7). Made from the table, like `help`.
struct ManualPage {
    private let table: CommandTable
    private let help: HelpPage

    init(table: CommandTable) {
        self.table = table
        help = HelpPage(table: table)
    }

    var text: String {
        var lines = [
            #".TH TOMBOLO 1 "" "tombolo \#(Program.version)" "User Commands""#,
            ".SH NAME", #"tombolo \- relay for Live Activities of iPhones"#,
            ".SH SYNOPSIS", #".B tombolo"#,
            #"\fICOMMAND\fR [\fIARGUMENT\fR]\&..."#, #"[\fIFLAG\fR]\&..."#,
            ".SH DESCRIPTION",
            "Backends post what happens to an activity, and Tombolo pushes its newest state to the",
            "phones through Apple's push service, as fast as each phone allows.",
            #"\fBtombolo serve\fR is the relay; the other commands speak with one, look after its data,"#,
            "or stand in for Apple and its phones.",
            ".SH COMMANDS",
        ]
        for command in table.commands { lines += section(command) }
        lines += [".SH EXIT STATUS"]
        for status in ExitStatus.allCases { lines += item("\(status.rawValue)", status.meaning) }
        lines += [".SH ENVIRONMENT"] + variables + [".SH FILES"]
        lines += item("/etc/tombolo/tombolo.json", "the configuration of the service")
        lines += item(
            "/etc/tombolo/keys", "push keys that the service gets as credentials, as push_FILE")
        lines += item("/var/lib/tombolo", "the data directory of the service")
        lines += [
            ".SH SEE ALSO", #"\fBsystemctl\fR(1), \fBjournalctl\fR(1), \fBsystemd.socket\fR(5)"#,
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ command: Subcommand) -> [String] {
        var lines = [".SS \(Self.escaped("tombolo \(help.usage(command))"))"]
        lines += [Self.line(command.summary + ".")]
        for argument in command.arguments { lines += item(argument.name, argument.summary) }
        for flag in command.flags { lines += item(help.spelling(flag), help.explanation(flag)) }
        for paragraph in command.details { lines += [".PP", Self.line(paragraph)] }
        if !command.examples.isEmpty {
            lines += [".PP", "Examples:", ".PP", ".nf", ".RS"]
            lines += command.examples.map(Self.line)
            lines += [".RE", ".fi"]
        }
        return lines
    }

    /// Describes the environment variables that can replace flags.
    private var variables: [String] {
        var flags: [String: Flag] = [:]
        for flag in table.commands.flatMap(\.flags) {
            if let name = flag.environment, flags[name] == nil { flags[name] = flag }
        }
        return flags.sorted { $0.key < $1.key }.flatMap { name, flag in
            item(
                flag.isSecret ? "\(name), \(name)_FILE" : name,
                "as --\(flag.name): \(flag.summary)"
                    + (flag.isSecret ? "; from the file that \(name)_FILE names" : ""))
        }
    }

    private func item(_ term: String, _ text: String) -> [String] {
        [".TP", #"\fB\#(Self.escaped(term))\fR"#, Self.line(text)]
    }

    /// Text that begins on a new line. Escapes a first character that roff would read as a request.
    private static func line(_ text: String) -> String {
        escaped(text).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : String(line)
        }.joined(separator: "\n")
    }

    /// Escapes roff's special characters, so that dashes and quotes of commands stay as typed.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += #"\e"#
            case "-": result += #"\-"#
            case "'": result += #"\(aq"#
            case "`": result += #"\(ga"#
            case "^": result += #"\(ha"#
            case "~": result += #"\(ti"#
            case "\"": result += #"\(dq"#
            default: result.append(character)
            }
        }
        return result
    }
}
