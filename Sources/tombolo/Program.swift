import Glibc
import TomboloEventLog
import TomboloLoop

/// The program: parses the command line, runs the command, and returns its exit status.
struct Program: Sendable {
    static let version = "0.1.0"

    private let environment: [String: String]
    private let terminal: Terminal

    init(environment: [String: String]) {
        self.environment = environment
        terminal = Terminal(environment: environment)
    }

    /// Runs the whole program. It blocks, so call it on the main thread.
    func run(_ words: [String]) -> ExitStatus {
        // If a pipe is closed, its write must fail; the default signal would end the program.
        signal(SIGPIPE, SIG_IGN)
        do {
            return try EpollLoop.run { loop in await run(words, on: loop) }
        } catch {
            terminal.complain("tombolo: no loop could be made: \(error)\n")
            return .failed
        }
    }

    /// What root makes in somebody's data directory is that user's.
    private func newFiles(of invocation: Invocation) -> FileOwner {
        // A configuration that cannot be read has no directory; the command says so.
        FileOwner((try? ConfigurationSources(invocation))?.configuration)
    }

    private func changesThings(_ words: [String]) -> Bool {
        CommandTable.tombolo.command(beginning: words)?.flags.contains {
            $0.name == Flag.dryRun.name
        } ?? false
    }

    private func run(_ words: [String], on loop: EpollLoop) async -> ExitStatus {
        let table = CommandTable.tombolo
        do {
            switch try CommandLineParser(table: table, environment: environment).parse(words) {
            case .help(let path):
                try terminal.write(HelpPage(table: table).text(for: path).utf8)
                return .succeeded
            case .manual:
                try terminal.write(ManualPage(table: table).text.utf8)
                return .succeeded
            case .version:
                try terminal.print("tombolo \(Self.version)")
                return .succeeded
            case .run(let command, let invocation):
                let context = CommandContext(
                    invocation: invocation, terminal: terminal, loop: loop,
                    environment: environment)
                let owner = command.makesFiles ? newFiles(of: invocation) : nil
                defer { owner?.give() }
                return try await command.run(context)
            }
        } catch let error as ProgramError {
            // Nobody reads on, and nothing was changed: there is nothing to say.
            if error.status != .closedPipe || changesThings(words) { terminal.complain(error.text) }
            return error.status
        } catch let error as EventLogError {
            terminal.complain(ProgramError(error).text)
            return ProgramError(error).status
        } catch {
            terminal.complain("tombolo: \(error)\n")
            return .failed
        }
    }
}
