import Glibc
import TomboloHTTP
import TomboloLoop

/// A program that a test starts and ends: its output goes to one pipe.
final class ChildProcess: ReadinessTarget, @unchecked Sendable {  // used on its loop only
    struct CannotStart: Error {
        let path: String
        let errno: Int32
    }

    let identifier: pid_t
    private let output: Int32
    private var collected: [UInt8] = []
    private var hasEnded = false
    private var isReaped = false
    private var parking: Parking?

    /// `name`: a program of Debian's, which may be one for administrators and then is not in every
    /// PATH.
    init(_ name: String, _ arguments: [String]) throws {
        let places = ["/usr/bin/", "/usr/sbin/", "/usr/local/bin/"].map { $0 + name }
        let path = places.first { access($0, X_OK) == 0 } ?? name
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CannotStart(path: path, errno: errno) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        var child = pid_t()
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in argv { free(pointer) } }
        let code = posix_spawn(&child, path, &actions, nil, argv, environ)
        close(ends[1])
        guard code == 0 else {
            close(ends[0])
            throw CannotStart(path: path, errno: code)
        }
        identifier = child
        output = ends[0]
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
    }

    deinit {
        terminate()
        close(output)
    }

    /// Ends it and waits for its end.
    func terminate() {
        guard !isReaped else { return }
        isReaped = true
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }

    /// Everything it writes until it ends by itself.
    func waitForOutput(on loop: EpollLoop) async throws -> String {
        let parking = Parking(loop)
        self.parking = parking
        try loop.register(output, .readable, self)
        while !hasEnded { await parking.park() }
        loop.deregister(output)
        terminate()
        return String(decoding: collected, as: UTF8.self)
    }

    func becameReady(_ readiness: Readiness) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &buffer, buffer.count)
        if count > 0 { collected.append(contentsOf: buffer[..<count]) } else { hasEnded = true }
        parking?.unpark()
    }

    /// Tries to connect until it listens; gives up after ten seconds.
    func waitUntilListening(port: Int, on loop: EpollLoop) async throws {
        let deadline = loop.now + .seconds(10)
        while true {
            do throws(ConnectionError) {
                let probe = try await Connection.dial(
                    host: "127.0.0.1", port: port, tls: nil, on: loop, within: .seconds(5))
                probe.abort()
                return
            } catch {
                guard loop.now < deadline else { throw error }
            }
            try await loop.sleep(for: .milliseconds(5))
        }
    }
}

/// A port that was free a moment ago.
func freePort() throws -> Int {
    let loop = try EpollLoop()
    return try Listener(on: loop, at: ListenAddress(host: "127.0.0.1", port: 0), tls: nil)
        .address.port
}

/// A folder of a test's own.
struct TemporaryFiles: Sendable {
    let path: String
    private struct CannotMake: Error {}

    init() throws {
        var template = Array("/tmp/tombolo-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CannotMake() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw CannotMake()
        }
        close(descriptor)
        return file
    }

    func remove() {
        guard let folder = opendir(path) else { return }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink(path + "/" + name)
        }
        closedir(folder)
        rmdir(path)
    }
}
