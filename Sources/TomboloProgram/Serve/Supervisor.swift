import CLinux
import Glibc
import TomboloHTTP
import TomboloLoop

/// The service manager (systemd) that started this process.
///
/// It receives the relay's status (sd_notify(3)), and it may have bound the listener
/// (sd_listen_fds(3)). If there is no manager, nothing is sent.
struct Supervisor: Sendable {
    /// The listening socket that the manager has passed; nil if there is none.
    let listener: InheritedSocket?
    /// Watchdog time: after such a silence the manager kills the relay. Nil: none.
    let patience: Duration?
    private let place: String?

    /// The first descriptor that the manager passes.
    private static let firstDescriptor: Int32 = 3
    /// Number of attempts to send a message while the manager's queue is full.
    private static let tries = 50
    private static let pause = Duration.milliseconds(20)
    /// Shortest watchdog time that is accepted. A shorter one would need too many messages.
    private static let patienceMin = Duration.milliseconds(100)

    /// Reads the environment variables of the protocols. Ignores those for another process.
    init(_ environment: [String: String]) throws(ProgramError) {
        func isForThisProcess(_ variable: String) -> Bool {
            environment[variable].flatMap { pid_t($0) } == getpid()
        }
        place = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isWatched = environment["WATCHDOG_PID"] == nil || isForThisProcess("WATCHDOG_PID")
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        patience =
            place != nil && isWatched && microseconds > 0
            ? max(.microseconds(microseconds), Self.patienceMin) : nil
        let count = isForThisProcess("LISTEN_PID") ? environment["LISTEN_FDS"] ?? "0" : "0"
        guard let count = UInt16(count) else {
            throw .usage("LISTEN_FDS is no number of sockets: \(count)")
        }
        listener = try Self.listener(count: Int(count))
    }

    private static func listener(count: Int) throws(ProgramError) -> InheritedSocket? {
        let remedy = "systemctl cat tombolo.socket: one ListenStream=HOST:PORT"
        guard count > 0 else { return nil }
        guard count == 1 else {
            throw .usage(
                "the service manager handed \(count) sockets over, and the relay listens on one",
                remedy: remedy)
        }
        do {
            return try InheritedSocket(descriptor: firstDescriptor)
        } catch {
            throw .usage("the service manager's socket cannot be used: \(error)", remedy: remedy)
        }
    }

    /// The address of the manager's socket, which replaces `listen`.
    var address: SocketAddressText? {
        listener.map {
            SocketAddressText(host: $0.address.host, port: UInt16(clamping: $0.address.port))
        }
    }

    /// Reports that the relay accepts requests, or that it has a new configuration.
    func ready(_ status: String? = nil, on loop: EpollLoop) async {
        await tell("READY=1" + (status.map { "\nSTATUS=\($0)" } ?? ""), on: loop)
    }

    /// Reports that the relay reads its configuration again. `ready` must follow.
    func reloading(on loop: EpollLoop) async {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        await tell("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", on: loop)
    }

    /// Reports that the relay is stopping.
    func stopping(on loop: EpollLoop) async {
        await tell("STOPPING=1\nSTATUS=It finishes what it accepted", on: loop)
    }

    /// Reports twice in each watchdog time that the loop runs, until the task is cancelled.
    func reassure(on loop: EpollLoop) async throws {
        guard let patience else { return }
        while true {
            await tell("WATCHDOG=1", on: loop)
            try await loop.sleep(for: patience / 2)
        }
    }

    /// Sends a message. If the manager is gone, the message is dropped.
    private func tell(_ message: String, on loop: EpollLoop) async {
        guard let place else { return }
        for _ in 0..<Self.tries {
            guard Self.send(message, to: place) == EAGAIN else { return }
            // If the task is cancelled, the relay ends anyway, and the manager notices it.
            guard (try? await loop.sleep(for: Self.pause)) != nil else { return }
        }
    }

    /// Sends one datagram. Returns 0 or errno.
    private static func send(_ message: String, to place: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(place.utf8)
        // A name that begins with @ is in Linux's abstract namespace.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let length = MemoryLayout<sa_family_t>.size + path.count
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    descriptor, bytes, bytes.count,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0,
                    socklen_t(length))
            }
        }
        return sent < 0 ? errno : 0
    }
}
