import Glibc
import Testing
import TomboloJSON

/// The real program, as somebody at a shell has it.
struct Tombolo {
    struct Result {
        var output: String
        var errors: String
        /// The exit code; 128 and the signal's number where a signal ended it.
        var status: Int32
    }

    /// No command here takes longer; one that does hangs.
    static let patience: Int32 = 60

    /// The binary: `TOMBOLO_PROGRAM`, or the one that was built beside these tests.
    static var path: String {
        if let path = getenv("TOMBOLO_PROGRAM") { return String(cString: path) }
        return "\(built)/tombolo"
    }

    /// The program that measures, beside the binary.
    static var bench: String {
        let directory = getenv("TOMBOLO_PROGRAM").map { String(cString: $0) }?.split(
            separator: "/", omittingEmptySubsequences: false
        ).dropLast().joined(separator: "/")
        return "\(directory ?? built)/tombolo-bench"
    }

    /// Where these tests were built.
    private static var built: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let tests = String(
            decoding: buffer[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The test runner may be a helper of the toolchain; then the bundle stands among the
        // arguments.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? tests
        return bundle.lastIndex(of: "/").map { String(bundle[..<$0]) } ?? "."
    }

    /// Runs it to its end with nothing on stdin but `input`, and nothing of this process's
    /// environment but the path.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        program: String = path
    ) throws -> Result {
        let process = try ChildProcess(arguments, environment: environment, program: program)
        try process.write(input)
        process.closeInput()
        return try process.finish(within: patience)
    }

    static func run(_ arguments: String...) throws -> Result { try run(arguments) }
}

/// What a command prints, where that is JSON.
func json(_ text: some StringProtocol) throws -> JSONView {
    try JSONDocument(Array(text.utf8)).root
}

/// What a test could not do.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A program of the system, as a test needs one that nobody here wrote.
enum Shell {
    /// Words that run a program at `clock`, as faketime(1) reads it. That makes shared memory with
    /// its process's number in the name, and fails where one that was killed has left such.
    static func faketime(_ clock: String) -> [String] {
        [
            "sh", "-c",
            "rm -f /dev/shm/faketime_shm_$$ /dev/shm/sem.faketime_sem_$$; exec faketime \"$@\"",
            "sh", "-f", clock,
        ]
    }

    static func run(_ words: String...) throws -> Tombolo.Result { try run(words) }

    static func run(_ words: [String]) throws -> Tombolo.Result {
        let process = try ChildProcess(words, program: "/usr/bin/env")
        process.closeInput()
        return try process.finish(within: Tombolo.patience)
    }
}
