import Glibc
import TomboloLoop

/// A program of the system, such as `curl`: a client nobody here wrote.
final class OutsideProgram: ReadinessTarget, @unchecked Sendable {  // used on its loop only
    struct CannotStart: Error {}

    private let output: Int32
    private let process: pid_t
    private let parking: Parking
    private var collected: [UInt8] = []
    private var hasEnded = false

    /// Runs it to its end; answers what it wrote to its standard output.
    static func run(
        _ name: String, _ arguments: [String], on loop: EpollLoop
    ) async throws -> String {
        try await OutsideProgram(name, arguments, on: loop).wait(on: loop)
    }

    private init(_ name: String, _ arguments: [String], on loop: EpollLoop) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CannotStart() }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let argv = ([name] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in argv { free(pointer) } }
        var process = pid_t()
        let code = posix_spawnp(&process, name, &actions, nil, argv, environ)
        close(ends[1])
        guard code == 0 else { throw CannotStart() }
        self.process = process
        output = ends[0]
        parking = Parking(loop)
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
    }

    private func wait(on loop: EpollLoop) async throws -> String {
        try loop.register(output, .readable, self)
        while !hasEnded { await parking.park() }
        loop.deregister(output)
        close(output)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return String(decoding: collected, as: UTF8.self)
    }

    func becameReady(_ readiness: Readiness) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = read(output, &buffer, buffer.count)
        if count > 0 {
            collected += buffer[..<count]
        } else if count == 0 || errno != EAGAIN {
            hasEnded = true
        }
        parking.unpark()
    }
}
