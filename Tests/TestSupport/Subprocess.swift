package import Glibc

/// A program that a test starts; the one place of the tests that starts any.
///
/// Its pipes are closed in every other child, its signals are not blocked, and it does not outlive
/// its owner.
///
/// `@unchecked Sendable`: the test that owns it uses it step by step.
package final class Subprocess: @unchecked Sendable {
    /// What a descriptor of the program is connected to. What is not named is `/dev/null` for its
    /// three streams, and closed otherwise.
    package enum Stream {
        /// A pipe to the test; `descriptor(_:)` is the test's end.
        case pipe
        /// This descriptor of the test's own.
        case descriptor(Int32)
        /// The same as another one of the program's.
        case sameAs(Int32)
    }

    package struct CannotStart: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package let id: pid_t
    private var ends: [Int32: Int32] = [:]
    private var status: Int32?

    /// - Parameters:
    ///   - program: a path; or a name, which is looked for in `PATH` and where Debian keeps the
    ///     programs of administrators.
    ///   - environment: all of it; nil: that of the test.
    package init(
        _ program: String, _ arguments: [String], environment: [String]? = nil,
        streams: KeyValuePairs<Int32, Stream>
    ) throws(CannotStart) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for number in [1, 2] as [Int32] {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
        }
        var theirs: [Int32] = []
        defer { for descriptor in theirs { Glibc.close(descriptor) } }
        for (number, stream) in streams {
            switch stream {
            case .pipe:
                let (read, write) = try Self.pipe()
                ends[number] = number == 0 ? write : read
                theirs.append(number == 0 ? read : write)
                posix_spawn_file_actions_adddup2(&actions, theirs[theirs.count - 1], number)
            case .descriptor(let descriptor), .sameAs(let descriptor):
                posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of a test run block signals, and a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let path = Self.path(of: program)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = (environment ?? Self.environment).map { strdup($0) } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var child = pid_t()
        let code = posix_spawnp(&child, path, &actions, &attributes, words, variables)
        id = child
        guard code == 0 else {
            status = 127
            throw CannotStart(description: "\(path): \(String(cString: strerror(code)))")
        }
    }

    deinit {
        end()
        for end in ends.values { Glibc.close(end) }
    }

    /// Whether a program of this name is installed.
    package static func isInstalled(_ program: String) -> Bool {
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":")
        return access(path(of: program), X_OK) == 0
            || folders.contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    /// The test's own.
    private static var environment: [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            variables.append(String(cString: variable))
            next += 1
        }
        return variables
    }

    private static func path(of program: String) -> String {
        guard !program.contains("/") else { return program }
        let administrators = "/usr/sbin/" + program
        return access(administrators, X_OK) == 0 ? administrators : program
    }

    /// The test's end of a pipe; -1 after `close(_:)`.
    package func descriptor(_ number: Int32) -> Int32 { ends[number] ?? -1 }

    /// Closes the test's end of a pipe.
    package func close(_ number: Int32) {
        if let end = ends.removeValue(forKey: number) { Glibc.close(end) }
    }

    /// Without effect on one that has ended.
    package func signal(_ number: Int32) {
        if status == nil { kill(id, number) }
    }

    /// Waits for its end. As a shell tells it: the exit code, or 128 and the number of the signal.
    @discardableResult
    package func wait() -> Int32 {
        if let status { return status }
        var raw: Int32 = 0
        while waitpid(id, &raw, 0) < 0, errno == EINTR {}
        let code = raw & 0x7f == 0 ? raw >> 8 & 0xff : 128 + raw & 0x7f
        status = code
        return code
    }

    /// Ends it at once, and waits for its end.
    package func end() {
        signal(SIGKILL)
        wait()
    }

    private static func pipe() throws(CannotStart) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw CannotStart(description: "there is no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
