import Glibc
import TomboloLoop

/// What curl, a program that this relay did not write, got for an answer.
struct CurlAnswer: Sendable {
    let status: Int
    /// Names in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Takes the last of the answers that `curl -i` prints (a 100 comes before it).
    init?(output: [UInt8]) {
        var rest = output[...]
        var head: [Substring] = []
        repeat {
            guard let end = Self.endOfHead(rest) else { return nil }
            head = Substring(decoding: rest[..<end], as: UTF8.self).split(separator: "\r\n")
            rest = rest[(end + 4)...]
        } while head[0].contains(" 100")
        guard let code = head[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        status = code
        var fields: [String: String] = [:]
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields[line[..<colon].lowercased()] = String(value)
        }
        self.fields = fields
        body = Array(rest)
    }

    private static func endOfHead(_ bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4 else { return nil }
        return (bytes.startIndex...(bytes.endIndex - 4)).first {
            bytes[$0..<($0 + 4)].elementsEqual(mark)
        }
    }
}

/// One run of curl; its output comes over a pipe that the loop watches.
final class Curl: ReadinessTarget, @unchecked Sendable {  // used on its loop only
    struct Failure: Error {
        let what: String
    }

    private let loop: EpollLoop
    private let output: Int32
    private let process: pid_t
    private let parking: Parking
    private(set) var collected: [UInt8] = []
    private(set) var hasEnded = false
    private var isReaped = false

    init(_ arguments: [String], on loop: EpollLoop) throws {
        self.loop = loop
        parking = Parking(loop)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(what: "pipe: \(errno)") }
        // Another child that inherited the writing end would keep it open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        let all = ["curl", "-sS", "-i", "--max-time", "20"] + arguments
        let argv = all.map { strdup($0) } + [nil]
        defer { for pointer in argv { free(pointer) } }
        var child = pid_t()
        let code = posix_spawnp(&child, "curl", &actions, nil, argv, environ)
        close(ends[1])
        output = ends[0]
        process = child
        guard code == 0 else { throw Failure(what: "curl cannot be started: \(code)") }
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        try loop.register(output, .readable, self)
    }

    deinit {
        end()
        close(output)
    }

    /// Ends it and waits for its end.
    func end() {
        guard !isReaped else { return }
        isReaped = true
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// Waits until `condition` holds of what has come, or nothing more comes.
    func wait(until condition: (String) -> Bool = { _ in false }) async -> String {
        while true {
            let text = String(decoding: collected, as: UTF8.self)
            if hasEnded || condition(text) { return text }
            await parking.park()
        }
    }

    func becameReady(_ readiness: Readiness) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(output, &buffer, buffer.count)
        if count > 0 {
            collected += buffer[..<count]
        } else {
            hasEnded = true
            loop.deregister(output)
        }
        parking.unpark()
    }
}
