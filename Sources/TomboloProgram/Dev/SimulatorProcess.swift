import Glibc
import TomboloJSON
import TomboloLoop

/// The simulator as a child process: this program again, as `tombolo sim`. Used on the loop only.
///
/// The child ends when this process ends, even after a crash, as it waits for the end of stdin.
final class SimulatorProcess: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let id: pid_t
    private var input: Int32
    private let output: InputReader
    private let loop: EpollLoop
    private var splitter = LineSplitter()
    private var lines: [[UInt8]] = []
    private var isReaped = false

    /// Time limit from the start until the first line.
    static let startTime = Duration.seconds(10)
    /// Time limit from the end of the child's stdin until its exit.
    static let stopTime = Duration.seconds(5)

    /// Starts the child. Pass secrets in `environment`, because other users can see arguments.
    init(_ arguments: [String], environment: [String: String], loop: EpollLoop) throws {
        let toChild = try Self.pipe()
        let fromChild = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild.read, 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild.write, 1)
        // The child has its own process group. So Ctrl-C reaches only this process, which ends it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        let words = (["tombolo", "sim"] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var id = pid_t()
        let code = posix_spawn(&id, "/proc/self/exe", &actions, &attributes, words, variables)
        close(toChild.read)
        close(fromChild.write)
        self.id = id
        self.loop = loop
        input = toChild.write
        output = InputReader(owning: fromChild.read, loop: loop)
        guard code == 0 else {
            isReaped = true
            throw ProgramError("the simulator cannot be started: \(SystemError(code))")
        }
    }

    deinit {
        if input >= 0 { close(input) }
        if !isReaped { kill(id, SIGKILL) }
    }

    /// Waits for the first line: the simulator's address, certificate authority, and control port.
    func ready() async throws -> (url: String, caFile: String, control: Origin) {
        let line = try await loop.withDeadline(loop.now + Self.startTime) {
            try await self.nextLine()
        }
        // A line that is not as expected counts as missing.
        guard let line, let view = try? JSONDocument(line).root,
            let url = view["simulator"]?.string, let ca = view["ca"]?.string,
            let control = view["control"]?.string.flatMap(Origin.init)
        else {
            throw ProgramError(
                "the simulator did not start; see its output above",
                remedy: "choose another address: --simulator 127.0.0.1:0")
        }
        return (url, ca, control)
    }

    /// The next line of the child's stdout; nil at its end.
    func nextLine() async throws -> [UInt8]? {
        while lines.isEmpty {
            guard case .bytes(let bytes) = try await output.next() else { return nil }
            lines = try splitter.lines(in: bytes).map { Array($0) }
        }
        return lines.removeFirst()
    }

    /// Ends the child and waits for its exit.
    func stop() async {
        close(input)
        input = -1
        let deadline = loop.now + Self.stopTime
        var status: Int32 = 0
        while waitpid(id, &status, WNOHANG) == 0 {
            // After the deadline, or if the task is cancelled, kill the child: nothing of value is
            // lost.
            let isPatient = loop.now < deadline
            // A sleep throws if the task is cancelled.
            guard isPatient, (try? await loop.sleep(for: .milliseconds(5))) != nil else {
                kill(id, SIGKILL)
                waitpid(id, &status, 0)
                break
            }
        }
        isReaped = true
    }

    /// Returns a pipe whose ends are closed on exec, so that the child inherits only its own ends.
    private static func pipe() throws(ProgramError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else {
            throw ProgramError("no pipe can be made: \(SystemError(errno))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
