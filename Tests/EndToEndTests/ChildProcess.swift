import Glibc

/// One run of the program, with pipes to its three streams. Ends with its owner, by force if need
/// be.
final class ChildProcess {
    let id: pid_t
    private var input: Int32
    private let output: Int32
    private let errors: Int32
    private var outputBytes: [UInt8] = []
    private var errorBytes: [UInt8] = []
    private var isReaped = false

    init(
        _ arguments: [String], environment: [String: String] = [:], program: String? = nil
    ) throws {
        Glibc.signal(SIGPIPE, SIG_IGN)
        let (inRead, inWrite) = try Self.pipe()
        let (outRead, outWrite) = try Self.pipe()
        let (errRead, errWrite) = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, number) in [(inRead, Int32(0)), (outWrite, 1), (errWrite, 2)] {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        // Threads of a test run block signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let path = program ?? Tombolo.path
        let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let settings = ["PATH=\(search)"] + environment.map { "\($0)=\($1)" }
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = settings.map { strdup($0) } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var id = pid_t()
        let code = posix_spawn(&id, path, &actions, &attributes, words, variables)
        for descriptor in [inRead, outWrite, errWrite] { close(descriptor) }
        (input, output, errors) = (inWrite, outRead, errRead)
        self.id = id
        if code != 0 {
            isReaped = true
            throw TestFailure("\(path): \(String(cString: strerror(code)))")
        }
    }

    deinit {
        closeInput()
        close(output)
        close(errors)
        guard !isReaped else { return }
        kill(id, SIGKILL)
        var status: Int32 = 0
        waitpid(id, &status, 0)
    }

    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func closeInput() {
        guard input >= 0 else { return }
        close(input)
        input = -1
    }

    func signal(_ number: Int32) {
        if !isReaped { kill(id, number) }
    }

    /// Lets the pipe of stdout hold one page only.
    func shrinkOutputPipe() {
        // F_SETPIPE_SZ, fcntl(2); Glibc's module hides it.
        _ = fcntl(output, 1031, 4096)
    }

    /// The next line of stdout. Throws where none comes within `seconds`.
    func line(within seconds: Int32) throws -> String {
        let deadline = Self.now() + Int64(seconds) * 1_000
        while true {
            if let end = outputBytes.firstIndex(of: 10) {
                defer { outputBytes.removeFirst(end + 1) }
                return String(decoding: outputBytes[..<end], as: UTF8.self)
            }
            guard try read(until: deadline) else {
                throw TestFailure("no line; stderr: \(String(decoding: errorBytes, as: UTF8.self))")
            }
        }
    }

    /// The next line of stderr. Throws where none comes within `seconds`.
    func errorLine(within seconds: Int32) throws -> String {
        let deadline = Self.now() + Int64(seconds) * 1_000
        while true {
            if let end = errorBytes.firstIndex(of: 10) {
                defer { errorBytes.removeFirst(end + 1) }
                return String(decoding: errorBytes[..<end], as: UTF8.self)
            }
            guard try read(until: deadline) else { throw TestFailure("no line on stderr") }
        }
    }

    /// Reads to the end of both streams, then waits for the process.
    func finish(within seconds: Int32) throws -> Tombolo.Result {
        let deadline = Self.now() + Int64(seconds) * 1_000
        while try read(until: deadline) {}
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        return Tombolo.Result(
            output: String(decoding: outputBytes, as: UTF8.self),
            errors: String(decoding: errorBytes, as: UTF8.self),
            status: status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f)
    }

    /// Takes what the streams hold; false once both are at their end.
    private func read(until deadline: Int64) throws -> Bool {
        var waiting = [
            pollfd(fd: ended.output ? -1 : output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ended.errors ? -1 : errors, events: Int16(POLLIN), revents: 0),
        ]
        guard !ended.output || !ended.errors else { return false }
        let left = deadline - Self.now()
        guard left > 0, poll(&waiting, 2, Int32(left)) > 0 else {
            throw TestFailure(
                "still running; stderr: \(String(decoding: errorBytes, as: UTF8.self))")
        }
        if waiting[0].revents != 0 { ended.output = !take(output, into: &outputBytes) }
        if waiting[1].revents != 0 { ended.errors = !take(errors, into: &errorBytes) }
        return true
    }

    private var ended = (output: false, errors: false)

    private func take(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(descriptor, &piece, piece.count)
        guard count > 0 else { return false }
        bytes += piece[..<count]
        return true
    }

    /// Both ends closed in children, so that no other child keeps a stream of this one open.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw TestFailure("no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Milliseconds of the monotonic clock.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
