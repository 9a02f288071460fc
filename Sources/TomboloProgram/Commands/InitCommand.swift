import Glibc
import TomboloCore
import TomboloJSON

/// `config init`: writes a first configuration file. On a terminal it asks for missing values.
enum InitCommand {
    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let path = invocation.argument(0) ?? "tombolo.json"
        if path != "-", access(path, F_OK) == 0 {
            throw ProgramError(
                "\(path) is there already, and is left as it is",
                remedy: "tombolo config init OTHER, or mv \(path) \(path).old",
                status: .notFoundOrConflict)
        }
        let asks = context.terminal.inputIsTerminal && context.terminal.errorIsTerminal
        var questions = Questions(
            terminal: context.terminal, input: asks ? try InputReader(nil, loop: context.loop) : nil
        )
        let draft = try await draft(context, &questions)
        let bytes = Array(draft.text.utf8)
        // Read the draft back: this finds wrong values before the file is written.
        let made = try Configuration(file: try ConfigurationFile(bytes, path: path))
        if let objection = made.listenerObjection {
            throw ProgramError.usage(
                objection,
                remedy: "--tls-certificate FILE --tls-key FILE, or --listen 127.0.0.1:8780")
        }
        guard path != "-" else {
            try context.terminal.write(bytes)
            return .succeeded
        }
        do {
            try FileBytes.write(bytes, to: path)
        } catch {
            throw ProgramError("\(path) cannot be written: \(error)")
        }
        context.terminal.complain(
            "\(path) is written. Then:\n  tombolo config check \(path)\n"
                + "  tombolo key mint --scope all --name admin --data \(draft.data)\n"
                + "  tombolo serve --config \(path)\n")
        return .succeeded
    }

    private static func draft(
        _ context: CommandContext, _ questions: inout Questions
    ) async throws -> ConfigurationDraft {
        let invocation = context.invocation
        try checkPairs(invocation)
        var draft = ConfigurationDraft()
        draft.listen = try await questions.answer(
            invocation.text(.initListen), "Where does the API listen?", draft.listen)
        draft.data = try await questions.answer(
            invocation.text(.initData), "Where is the data directory?", draft.data)
        let id = try await questions.answer(
            invocation.text(.initApp), "What is the app's bundle id? (none: later)", "")
        if let certificate = invocation.text(.tlsCertificate), let key = invocation.text(.tlsKey) {
            draft.tls = Configuration.TLS(certificate: certificate, key: key)
        }
        guard !id.isEmpty else {
            for flag in ofApps where invocation.isGiven(flag) {
                throw ProgramError.usage(
                    "--\(flag.name) needs --app", remedy: "--app com.example.app")
            }
            return draft
        }
        var app = ConfigurationDraft.example
        app.id = id
        app.teamID = try await questions.answer(
            invocation.text(.teamID), "What is the developer team's id?", app.teamID)
        app.keyID = try await questions.answer(
            invocation.text(.initKeyID), "What is the id of the push key (.p8)?", app.keyID)
        app.keyFile = try await questions.answer(
            invocation.text(.initKeyFile), "Where is its file?",
            "/etc/tombolo/AuthKey_\(app.keyID).p8")
        let environment = try await questions.answer(
            invocation.text(.initEnvironment), "Which environment: production or sandbox?",
            "production")
        guard let environment = APNsEnvironment(name: environment) else {
            throw ProgramError.usage(
                "\(environment) is no environment of Apple's", remedy: "--environment production")
        }
        app.environment = environment
        draft.app = app
        return draft
    }

    /// Flags that describe an app.
    private static let ofApps = [Flag.teamID, .initKeyID, .initKeyFile, .initEnvironment]

    private static func checkPairs(_ invocation: Invocation) throws(ProgramError) {
        let pair = [Flag.tlsCertificate, .tlsKey]
        for (flag, other) in zip(pair, pair.reversed())
        where invocation.text(flag) != nil && invocation.text(other) == nil {
            throw .usage("--\(flag.name) needs --\(other.name)", remedy: "tombolo help config init")
        }
    }

    /// Asks the user, if there is one.
    struct Questions {
        let terminal: Terminal
        let input: InputReader?
        private var splitter = LineSplitter(bytesMax: 4_096)
        private var lines: [String] = []
        private var isOver = false

        init(terminal: Terminal, input: InputReader?) {
            self.terminal = terminal
            self.input = input
        }

        /// The flag's value, else the user's answer, else `standard`.
        mutating func answer(
            _ given: String?, _ question: String, _ standard: String
        ) async throws -> String {
            if let given { return given }
            guard let input, !isOver else { return standard }
            terminal.complain(standard.isEmpty ? "\(question) " : "\(question) [\(standard)] ")
            while lines.isEmpty {
                guard case .bytes(let bytes) = try await input.next() else {
                    isOver = true
                    terminal.complain("\n")
                    return standard
                }
                lines += try splitter.lines(in: bytes).map { String(decoding: $0, as: UTF8.self) }
            }
            let line = lines.removeFirst()
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.isEmpty ? standard : words.joined(separator: " ")
        }
    }
}

extension Configuration {
    /// Reads a configuration file. An error says where in the file the fault is.
    init(file: ConfigurationFile) throws(ProgramError) {
        do throws(FieldErrors) {
            self = try Configuration(reading: file.document.root, directory: file.directory)
        } catch {
            throw file.error(error)
        }
    }
}
