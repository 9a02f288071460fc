/// One command of the program. The table of these makes the parser, `help` and the completions, so
/// that none of them can know a flag that another does not.
struct Subcommand: Sendable {
    /// What is typed: `["log", "ls"]`.
    let path: [String]
    let summary: String
    var arguments: [Argument] = []
    var flags: [Flag] = []
    /// Paragraphs for `help`, below the flags.
    var details: [String] = []
    /// Whole command lines that work.
    var examples: [String] = []
    /// The statuses it ends with besides 0, 1 and 2.
    var exits: [ExitStatus] = []
    let run: @Sendable (CommandContext) async throws -> ExitStatus

    var name: String { path.joined(separator: " ") }
}

/// One positional argument.
struct Argument: Hashable, Sendable {
    let name: String
    let value: ValueKind
    let isOptional: Bool
    /// Takes all that is left; the last argument of a command only.
    let repeats: Bool
    let summary: String

    init(
        _ name: String, _ value: ValueKind, optional: Bool = false, repeats: Bool = false,
        _ summary: String
    ) {
        self.repeats = repeats
        self.name = name
        self.value = value
        isOptional = optional
        self.summary = summary
    }
}
