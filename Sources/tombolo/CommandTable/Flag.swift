/// One flag of a command: everything that parser, help, completions and the configuration's origin need.
struct Flag: Hashable, Sendable {
    /// Without the dashes.
    let name: String
    var short: Character?
    /// nil is a switch, which takes no value.
    var value: ValueKind?
    /// Told by `help`, and taken where neither flag nor environment says otherwise.
    var defaultValue: String?
    /// The variable that stands in for the flag.
    var environment: String?
    /// A secret may also come from the file that the variable with `_FILE` behind it names, and is never
    /// printed.
    var isSecret = false
    var repeats = false
    let summary: String

    init(
        _ name: String, short: Character? = nil, _ value: ValueKind? = nil,
        default defaultValue: String? = nil, environment: String? = nil, secret: Bool = false,
        repeats: Bool = false, _ summary: String
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.defaultValue = defaultValue
        self.environment = environment
        self.isSecret = secret
        self.repeats = repeats
        self.summary = summary
    }
}

/// One positional argument.
struct Argument: Hashable, Sendable {
    let name: String
    let value: ValueKind
    let isOptional: Bool
    let summary: String

    init(_ name: String, _ value: ValueKind, optional: Bool = false, _ summary: String) {
        self.name = name
        self.value = value
        isOptional = optional
        self.summary = summary
    }
}

/// One command of the program. The table of these makes the parser, `help` and the completions, so that none
/// of them can know a flag that another does not.
struct Command: Sendable {
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
    let run: @Sendable (Invocation, Terminal) async throws -> ExitStatus

    var name: String { path.joined(separator: " ") }
}
