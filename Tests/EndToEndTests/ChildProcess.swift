import Glibc
import TestSupport

/// One run of the program, with pipes to its three streams; `socket` is its descriptor 3. Ends with
/// its owner, by force if need be.
final class ChildProcess {
    private let process: Subprocess
    private var outputBytes: [UInt8] = []
    private var errorBytes: [UInt8] = []

    init(
        _ arguments: [String], environment: [String: String] = [:], program: String? = nil,
        socket: Int32? = nil
    ) throws {
        Glibc.signal(SIGPIPE, SIG_IGN)
        let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        process = try Subprocess(
            program ?? Tombolo.path, arguments,
            environment: ["PATH=\(search)"] + environment.map { "\($0)=\($1)" },
            streams: socket.map { [0: .pipe, 1: .pipe, 2: .pipe, 3: .descriptor($0)] }
                ?? [0: .pipe, 1: .pipe, 2: .pipe])
    }

    var id: pid_t { process.id }
    private var output: Int32 { process.descriptor(1) }
    private var errors: Int32 { process.descriptor(2) }

    func write(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(process.descriptor(0), $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func closeInput() { process.close(0) }

    func signal(_ number: Int32) { process.signal(number) }

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

    /// The next line of stderr that has `text`; those before it are passed over. Throws where none
    /// comes within `seconds`.
    func errorLine(containing text: String = "", within seconds: Int32) throws -> String {
        let deadline = Self.now() + Int64(seconds) * 1_000
        while true {
            if let end = errorBytes.firstIndex(of: 10) {
                let line = String(decoding: errorBytes[..<end], as: UTF8.self)
                errorBytes.removeFirst(end + 1)
                if text.isEmpty || line.contains(text) { return line }
                continue
            }
            guard try read(until: deadline) else {
                throw TestFailure("no line with \(text) on stderr")
            }
        }
    }

    /// Reads to the end of both streams, then waits for the process.
    func finish(within seconds: Int32) throws -> Tombolo.Result {
        let deadline = Self.now() + Int64(seconds) * 1_000
        while try read(until: deadline) {}
        return Tombolo.Result(
            output: String(decoding: outputBytes, as: UTF8.self),
            errors: String(decoding: errorBytes, as: UTF8.self),
            status: process.wait())
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

    /// Milliseconds of the monotonic clock.
    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
