import Glibc

/// The program: understands the command line, runs the command, and ends with its status.
struct Program: Sendable {
    static let version = "0.1.0"

    private let environment: [String: String]
    private let terminal: Terminal

    init(environment: [String: String]) {
        self.environment = environment
        terminal = Terminal(environment: environment)
    }

    func run(_ words: [String]) async -> ExitStatus {
        signal(SIGPIPE, SIG_IGN)
        let table = CommandTable.tombolo
        do {
            switch try CommandLineParser(table: table, environment: environment).parse(words) {
            case .help(let path):
                try terminal.write(HelpPage(table: table).text(for: path).utf8)
                return .succeeded
            case .version:
                try terminal.print("tombolo \(Self.version)")
                return .succeeded
            case .run(let command, let invocation):
                return try await command.run(invocation, terminal)
            }
        } catch let error as ProgramError {
            terminal.complain(error.text)
            return error.status
        } catch {
            terminal.complain("tombolo: \(error)\n")
            return .failed
        }
    }
}
