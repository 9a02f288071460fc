/// One flag of a command. Parser, help, completions and configuration all use this description.
package struct Flag: Hashable, Sendable {
    /// The name without the dashes.
    let name: String
    var short: Character?
    /// The kind of the value; nil for a switch, which has none.
    var value: ValueKind?
    /// The value that holds if neither the flag nor its variable is given. `help` shows it.
    var defaultValue: String?
    /// The environment variable whose value is used if the flag is not given.
    var environment: String?
    /// True for a secret, which is never printed. The variable with the suffix `_FILE` may name a
    /// file that contains it.
    var isSecret = false
    var repeats = false
    let summary: String

    /// A row of the table: see the properties.
    package init(
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

    /// Why `text` is not valid as the value; nil if it is valid. Completes: `the value …`.
    func objection(to text: String) -> String? {
        guard isSecret else { return value?.objection(to: text) }
        if text.lowercased().hasPrefix("bearer ") {
            return "begins with \"Bearer\", which the program adds itself; give the key alone"
        }
        return text.contains { $0.isWhitespace }
            ? "has a space or a line end in it; give the key alone" : value?.objection(to: text)
    }

    /// A flag without a value: it is given or not.
    package static func toggle(_ name: String, short: Character? = nil, _ summary: String) -> Flag {
        Flag(name, short: short, nil, summary)
    }
}
