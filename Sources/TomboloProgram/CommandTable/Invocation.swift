import TomboloCore

/// A parsed command line: every value is valid for the kind of its flag.
package struct Invocation: Sendable {
    let program: String
    let commandName: String
    let flags: [Flag]
    let arguments: [String]
    let given: [String: [String]]
    let environment: [String: String]

    /// Where a flag's value comes from.
    enum Source: Hashable, Sendable {
        case flag
        case environment(_ variable: String)
        case defaultValue

        var text: String {
            switch self {
            case .flag: "flag"
            case .environment(let variable): "environment \(variable)"
            case .defaultValue: "default"
            }
        }
    }

    /// The flag's value and its source: the command line, else the environment, else the default.
    /// Nil if they all lack a value, or if the command does not have the flag.
    func resolve(_ flag: Flag) -> (text: String, source: Source)? {
        guard let flag = flags.first(where: { $0.name == flag.name }) else { return nil }
        if let text = given[flag.name]?.last { return (text, .flag) }
        if let variable = flag.environment, let text = environment[variable] {
            return (text, .environment(variable))
        }
        return flag.defaultValue.map { ($0, .defaultValue) }
    }

    /// The flag's value as text; nil if it has none.
    package func text(_ flag: Flag) -> String? { resolve(flag)?.text }

    /// The value of a flag without which the command cannot run, as in the command line `example`.
    package func needed(_ flag: Flag, like example: String) throws(ProgramError) -> String {
        if let text = text(flag) { return text }
        throw .usage("\(commandName) needs --\(flag.name)", remedy: "\(program) \(example)")
    }

    /// The values of some flags, each with the name that it has in a request.
    func values(_ flags: [(name: String, flag: Flag)]) -> [(name: String, value: String?)] {
        flags.map { ($0.name, text($0.flag)) }
    }

    /// True if the command line has the flag.
    package func isGiven(_ flag: Flag) -> Bool { given[flag.name] != nil }

    /// All values of a flag that may be repeated, in order.
    func all(_ flag: Flag) -> [String] { given[flag.name] ?? resolve(flag).map { [$0.text] } ?? [] }

    // The parser has checked every value, so nil only means that there is no value.
    /// The flag's value as a number; nil if it has none.
    package func integer(_ flag: Flag) -> Int? { text(flag).flatMap { Int($0) } }
    func duration(_ flag: Flag) -> Span? { text(flag).flatMap { Span(text: $0) } }
    /// The flag's value as an origin; nil if it has none.
    package func origin(_ flag: Flag) -> Origin? { text(flag).flatMap(Origin.init) }
    func address(_ flag: Flag) -> SocketAddressText? { text(flag).flatMap(SocketAddressText.init) }

    /// `NAME=VALUE` values, split at the first `=`, in order.
    func pairs(_ flag: Flag) -> [(name: String, value: String)] {
        all(flag).compactMap { text in
            guard let equals = text.firstIndex(of: "=") else { return nil }
            return (String(text[..<equals]), String(text[text.index(after: equals)...]))
        }
    }

    func argument(_ index: Int) -> String? {
        arguments.indices.contains(index) ? arguments[index] : nil
    }
}
