import Glibc
import TomboloJSON

@testable import TomboloProgram

/// A relay in a process of its own, with an address and a key.
final class RunningRelay {
    let process: ChildProcess
    let api: String
    let key: String
    let ready: JSONView
    /// Where `dev` makes its own directory: a test that kills it leaves nothing behind.
    private let home: TemporaryDirectory?

    /// Longer than any start takes on a busy machine.
    static let startTime: Int32 = 30
    /// Longer than any stop takes: the drain has 10 s, and so has a push.
    static let stopTime: Int32 = 40

    /// `tombolo dev` on free ports.
    init(dev arguments: [String] = []) throws {
        let home = try TemporaryDirectory()
        self.home = home
        process = try ChildProcess(
            ["dev", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0"] + arguments,
            environment: ["TMPDIR": home.path])
        process.closeInput()
        ready = try json(try process.line(within: Self.startTime))
        api = ready["api"]?.string ?? ""
        key = ready["key"]?.string ?? ""
    }

    /// `tombolo serve` without an app on a free port (or the one told), with a key that was minted
    /// before; without one it is minted now.
    init(
        serve directory: String, key: String? = nil, listen: String = "127.0.0.1:0",
        arguments: [String] = [], environment: [String: String] = [:]
    ) throws {
        home = nil
        self.key = try key ?? RunningRelay.mintKey(directory)
        let words = ["serve", "--data", directory, "--listen", listen] + arguments
        // libfaketime takes the arguments from a Swift program that is the first it is loaded into:
        // a second env(1) is that one.
        let variables = environment.map { "\($0)=\($1)" }.sorted()
        process =
            try variables.isEmpty
            ? ChildProcess(words)
            : ChildProcess(variables + ["env", Tombolo.path] + words, program: "/usr/bin/env")
        process.closeInput()
        ready = try json(try process.line(within: Self.startTime))
        api = ready["api"]?.string ?? ""
    }

    /// A key of all scopes, minted into a directory that no relay runs on.
    static func mintKey(_ directory: String) throws -> String {
        let result = try Tombolo.run(
            "key", "mint", "--scope", "produce,observe,operate", "--data", directory, "-o", "json")
        let view = try json(result.output)
        guard let key = view["key"]?.string else { throw TestFailure(result.errors) }
        return key
    }

    /// What a shell has that speaks to this relay.
    var environment: [String: String] { ["TOMBOLO_RELAY": api, "TOMBOLO_KEY": key] }

    func tombolo(_ arguments: String..., input: String = "") throws -> Tombolo.Result {
        try tombolo(arguments, input: input)
    }

    func tombolo(_ arguments: [String], input: String = "") throws -> Tombolo.Result {
        try Tombolo.run(arguments, input: input, environment: environment)
    }

    /// Ends it as a supervisor does; answers its exit code.
    func terminate() throws -> Int32 {
        process.signal(SIGTERM)
        return try process.finish(within: Self.stopTime).status
    }

    /// Ends it as a power cut does.
    func kill() throws {
        process.signal(SIGKILL)
        _ = try process.finish(within: Self.stopTime)
    }
}
