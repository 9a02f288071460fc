/// All commands of a program, in the order of `help`.
package struct CommandTable: Sendable {
    /// The name by which the program is called, and the first sentence of its `help`.
    let program: String
    let summary: String
    /// The commands in sections with titles, for the first page of `help`.
    let sections: [(title: String, commands: [Subcommand])]
    let commands: [Subcommand]

    /// Makes the table of the program with this name.
    package init(
        _ program: String, summary: String,
        _ sections: [(title: String, commands: [Subcommand])]
    ) {
        (self.program, self.summary) = (program, summary)
        self.sections = sections
        commands = sections.flatMap(\.commands)
    }

    /// The words with which a command line may begin.
    var firstWords: [String] {
        var words: [String] = []
        for command in commands where words.last != command.path[0] {
            words.append(command.path[0])
        }
        return words + ["help", "version"]
    }

    /// The command whose path is at the beginning of `words`.
    func command(beginning words: [String]) -> Subcommand? {
        commands.first { words.starts(with: $0.path) }
    }

    /// True if `words` is the first word of commands that have two words.
    func isGroup(_ words: [String]) -> Bool {
        words.count == 1 && commands.contains { $0.path.count > 1 && $0.path[0] == words[0] }
    }

    /// The second words of a group.
    func members(of group: String) -> [String] {
        commands.filter { $0.path.count > 1 && $0.path[0] == group }.map { $0.path[1] }
    }
}
