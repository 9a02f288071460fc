struct CommandLineParser: Sendable {
    private let table: CommandTable
    private let environment: [String: String]

    init(table: CommandTable, environment: [String: String]) {
        self.table = table
        self.environment = environment
    }

    enum Meaning: Sendable {
        case run(Subcommand, Invocation)
        /// `help`, `--help`, or a group's first word alone. The list is empty for the whole
        /// program.
        case help([String])
        /// `help --man`.
        case manual
        case version
    }

    /// Parses `words` (without the program's name). An error names the wrong word, and the word
    /// that was probably meant.
    func parse(_ words: [String]) throws(ProgramError) -> Meaning {
        guard let first = words.first else { return .help([]) }
        switch first {
        case "help" where words.dropFirst().elementsEqual(["--man"]): return .manual
        case "help": return try help(Array(words.dropFirst()))
        case "--help", "-h": return .help([])
        case "--version", "version": return .version
        default: break
        }
        if first.hasPrefix("-") {
            throw .usage(
                "\(first) comes before the command; flags come after it",
                remedy: "\(table.program) help")
        }
        guard let command = table.command(beginning: words) else { throw try unknownCommand(words) }
        let rest = Array(words.dropFirst(command.path.count))
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            return .help(command.path)
        }
        var reader = FlagReader(command: command, program: table.program, words: rest)
        try reader.readAll()
        let environment = try environmentValues(command.flags, given: reader.given)
        return .run(
            command,
            Invocation(
                program: table.program, commandName: command.name, flags: command.flags,
                arguments: reader.arguments,
                given: reader.given, environment: environment))
    }

    private func help(_ words: [String]) throws(ProgramError) -> Meaning {
        if words.isEmpty || table.isGroup(words) { return .help(words) }
        guard let command = table.command(beginning: words), command.path == words else {
            throw try unknownCommand(words)
        }
        return .help(words)
    }

    private func unknownCommand(_ words: [String]) throws(ProgramError) -> ProgramError {
        let group = words[0]
        if table.isGroup([group]) {
            let members = table.members(of: group)
            guard words.count > 1, !words[1].hasPrefix("-") else {
                return .usage(
                    "\(group) needs one of \(members.joined(separator: ", "))",
                    remedy: "\(table.program) help \(group)")
            }
            return .usage(
                "unknown command \(group) \(words[1])"
                    + Suggestion.correction(words[1], of: group, among: members),
                remedy: "\(table.program) help \(group)")
        }
        return .usage(
            "unknown command \(group)"
                + Suggestion.correction(group, of: nil, among: table.firstWords),
            remedy: "\(table.program) help")
    }

    /// The values of `flags` from the environment, checked by each flag's kind. If a flag is given
    /// on the command line, its variable is ignored, so that the flag can replace a wrong variable.
    private func environmentValues(
        _ flags: [Flag], given: [String: [String]]
    ) throws(ProgramError) -> [String: String] {
        var values: [String: String] = [:]
        for flag in flags where given[flag.name] == nil {
            guard let variable = flag.environment else { continue }
            var value = environment[variable]
            if value == nil, flag.isSecret, let path = environment["\(variable)_FILE"] {
                value = try SecretFile.read(path, named: "\(variable)_FILE")
            }
            // The value may come from a file: remove line breaks at its end.
            if flag.isSecret, let text = value {
                let end = text.unicodeScalars.reversed().prefix { $0 == "\n" || $0 == "\r" }.count
                value = String(String.UnicodeScalarView(text.unicodeScalars.dropLast(end)))
            }
            guard let value, !value.isEmpty else { continue }
            if let objection = flag.objection(to: value) {
                let shown = value.split(whereSeparator: \.isNewline).joined(separator: "\\n")
                let meant = flag.value == .origin ? Origin.near(value) : nil
                throw .usage(
                    "\(variable)=\(flag.isSecret ? "…" : shown) \(objection)",
                    remedy: (meant.map { "export \(variable)=\($0); or: " } ?? "")
                        + "unset \(variable)")
            }
            values[variable] = value
        }
        return values
    }
}

/// Reads one command's flags and arguments from left to right.
private struct FlagReader {
    let command: Subcommand
    let program: String
    var words: [String]
    var given: [String: [String]] = [:]
    var arguments: [String] = []

    init(command: Subcommand, program: String, words: [String]) {
        (self.command, self.program) = (command, program)
        self.words = words.reversed()
    }

    mutating func readAll() throws(ProgramError) {
        while let word = words.popLast() {
            if word == "--" {
                arguments += words.reversed()
                break
            } else if word.hasPrefix("--") {
                try readLong(word)
            } else if word.hasPrefix("-"), word != "-" {
                try readShort(word)
            } else {
                arguments.append(word)
            }
        }
        try checkArguments()
    }

    private var remedy: String { "\(program) help \(command.name)" }

    private mutating func readLong(_ word: String) throws(ProgramError) {
        let parts = word.dropFirst(2).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let flag = command.flags.first(where: { $0.name == name }) else {
            throw .usage(
                "unknown flag --\(name)"
                    + Suggestion.question("--\(name)", among: command.flags.map { "--\($0.name)" }),
                remedy: remedy)
        }
        try takeFlag(flag, as: "--\(name)", attached: parts.count == 2 ? String(parts[1]) : nil)
    }

    private mutating func readShort(_ word: String) throws(ProgramError) {
        let letter = word.dropFirst().first
        guard let flag = command.flags.first(where: { $0.short == letter && letter != nil }) else {
            let meant = command.flags.first { "-\($0.name)" == word }
            throw .usage(
                "unknown flag \(word)" + (meant.map { "; did you mean --\($0.name)?" } ?? ""),
                remedy: remedy)
        }
        var attached = word.dropFirst(2)
        if attached.hasPrefix("=") { attached = attached.dropFirst() }
        try takeFlag(
            flag, as: "-\(flag.short ?? "?")",
            attached: word.utf8.count > 2 ? String(attached) : nil)
    }

    private mutating func takeFlag(
        _ flag: Flag, as spelling: String, attached: String?
    ) throws(ProgramError) {
        if given[flag.name] != nil, !flag.repeats {
            throw .usage("\(spelling) is given twice", remedy: remedy)
        }
        guard let kind = flag.value else {
            guard attached == nil else {
                throw .usage("\(spelling) takes no value", remedy: remedy)
            }
            given[flag.name] = [""]
            return
        }
        guard let value = attached ?? words.popLast() else {
            throw .usage("\(spelling) needs a value: \(kind.placeholder)", remedy: remedy)
        }
        if let objection = flag.objection(to: value) {
            let isState = flag.name == Flag.stateFile.name && kind == .file && value.first == "{"
            throw .usage(
                "\(spelling) \(flag.isSecret ? "…" : value) \(objection)",
                remedy: isState
                    ? "-s NAME=VALUE for each member, or: echo '\(value)' | … --state -" : remedy)
        }
        given[flag.name, default: []].append(value)
    }

    /// Refuses a field of the state without its flag: no id has an equals sign.
    private func checkFields() throws(ProgramError) {
        guard command.flags.contains(.field),
            let field = arguments.first(where: { $0.contains("=") })
        else { return }
        let isPlain = field.allSatisfy { $0.isLetter || $0.isNumber || "=._-".contains($0) }
        throw .usage(
            "\(field) is a field of the state, without its flag -s",
            remedy: "-s " + (isPlain ? field : "'\(field)'"))
    }

    private func checkArguments() throws(ProgramError) {
        try checkFields()
        var wanted = command.arguments
        if let last = wanted.last, last.repeats {
            while wanted.count < arguments.count { wanted.append(last) }
        }
        if arguments.count > wanted.count {
            let surplus = arguments[wanted.count]
            throw .usage("\(command.name) takes no argument \(surplus)", remedy: remedy)
        }
        if let missing = wanted.dropFirst(arguments.count).first(where: { !$0.isOptional }) {
            throw .usage("\(command.name) needs \(missing.name)", remedy: remedy)
        }
        for (argument, value) in zip(wanted, arguments) {
            if let objection = argument.value.objection(to: value) {
                throw .usage("\(argument.name) \(value) \(objection)", remedy: remedy)
            }
        }
    }
}
