/// One flag of a command: everything that parser, help, completions and the configuration's origin
/// need.
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
    /// A secret may also come from the file that the variable with `_FILE` behind it names, and is
    /// never printed.
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

    /// A flag that takes no value: it is given or not.
    static func toggle(_ name: String, short: Character? = nil, _ summary: String) -> Flag {
        Flag(name, short: short, nil, summary)
    }
}
