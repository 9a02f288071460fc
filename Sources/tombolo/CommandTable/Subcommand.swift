/// One command of the program. Parser, `help` and completions all use the table of commands, so
/// they know the same flags.
struct Subcommand: Sendable {
    /// The words to type: `["log", "ls"]`.
    let path: [String]
    let summary: String
    var arguments: [Argument] = []
    var flags: [Flag] = []
    /// Paragraphs for `help`, below the flags.
    var details: [String] = []
    /// Complete command lines that work.
    var examples: [String] = []
    /// The exit statuses that the command can have besides 0, 1 and 2, if they are others than
    /// those of most commands.
    var exits: [ExitStatus]?
    /// True if it makes files in a data directory.
    var makesFiles = false
    let run: @Sendable (CommandContext) async throws -> ExitStatus

    var name: String { path.joined(separator: " ") }

    /// The exit statuses besides 0, 1 and 2, unless `exits` names them. Commands that ask a relay
    /// have the same; a list is there, if it has no filter that names something.
    var statuses: [ExitStatus] {
        let ofRelay: [ExitStatus] =
            path.last == "ls"
            ? [.unauthorized, .unreachable] : [.notFoundOrConflict, .unauthorized, .unreachable]
        return exits ?? (flags.contains(.relay) ? ofRelay : [])
    }
}

struct Argument: Hashable, Sendable {
    let name: String
    let value: ValueKind
    let isOptional: Bool
    /// True if it takes all remaining arguments. Only for the last argument of a command.
    let repeats: Bool
    let summary: String

    init(
        _ name: String, _ value: ValueKind, optional: Bool = false, repeats: Bool = false,
        _ summary: String
    ) {
        (self.repeats, self.name, self.value) = (repeats, name, value)
        isOptional = optional
        self.summary = summary
    }
}
