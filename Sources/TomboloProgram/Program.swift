import Glibc
import TomboloEventLog
import TomboloLoop

/// A program with a table of commands: parses the command line, runs the command, and returns its
/// exit status. `tombolo` is one; the one that measures is another.
package struct Program: Sendable {
    static let version = "0.1.0"

    private let table: CommandTable
    private let environment: [String: String]
    private let terminal: Terminal

    /// Reads the process's environment, so call it before there is a second thread.
    package init(_ table: CommandTable) {
        self.table = table
        environment = Self.readEnvironment()
        terminal = Terminal(environment: environment)
    }

    private static func readEnvironment() -> [String: String] {
        var environment: [String: String] = [:]
        var entry = environ
        while let variable = entry.pointee {
            let text = String(cString: variable)
            if let equals = text.firstIndex(of: "=") {
                environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry += 1
        }
        return environment
    }

    /// Runs the whole program. It blocks, so call it on the main thread.
    package func run(_ words: [String]) -> ExitStatus {
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
        table.command(beginning: words)?.flags.contains {
            $0.name == Flag.dryRun.name
        } ?? false
    }

    private func run(_ words: [String], on loop: EpollLoop) async -> ExitStatus {
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
            if error.status != .closedPipe || changesThings(words) { tell(error, words) }
            return error.status
        } catch let error as EventLogError {
            tell(ProgramError(error), words)
            return ProgramError(error).status
        } catch {
            tell(ProgramError("\(error)"), words)
            return .failed
        }
    }

    /// Writes an error to stderr: as a JSON object where the command line asks for JSON, even if
    /// another word of it is wrong.
    private func tell(_ error: ProgramError, _ words: [String]) {
        let wantsJSON = words.indices.contains { index in
            let isFlag = index > 0 && ["-o", "--output"].contains(words[index - 1])
            return ["json", "jsonl"].contains { format in
                isFlag && words[index] == format
                    || ["-o\(format)", "-o=\(format)", "--output=\(format)"].contains(words[index])
            }
        }
        terminal.complain(wantsJSON ? error.object : error.text)
    }
}
