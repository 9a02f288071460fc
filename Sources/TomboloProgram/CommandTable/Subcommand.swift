/// One command of the program. Parser, `help` and completions all use the table of commands, so
/// they know the same flags.
package struct Subcommand: Sendable {
    /// The words to type: `["log", "ls"]`.
    let path: [String]
    let summary: String
    let arguments: [Argument]
    let flags: [Flag]
    /// Paragraphs for `help`, below the flags.
    let details: [String]
    /// Complete command lines that work.
    let examples: [String]
    /// The exit statuses that the command can have besides 0, 1 and 2, if they are others than
    /// those of most commands.
    let exits: [ExitStatus]?
    /// True if it makes files in a data directory.
    let makesFiles: Bool
    let run: @Sendable (CommandContext) async throws -> ExitStatus

    /// A row of the table: see the properties.
    package init(
        path: [String], summary: String, arguments: [Argument] = [], flags: [Flag] = [],
        details: [String] = [], examples: [String] = [], exits: [ExitStatus]? = nil,
        makesFiles: Bool = false,
        run: @escaping @Sendable (CommandContext) async throws -> ExitStatus
    ) {
        (self.path, self.summary, self.run) = (path, summary, run)
        (self.arguments, self.flags, self.details) = (arguments, flags, details)
        (self.examples, self.exits, self.makesFiles) = (examples, exits, makesFiles)
    }

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

/// One argument of a command: a word that is no flag.
package struct Argument: Hashable, Sendable {
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
