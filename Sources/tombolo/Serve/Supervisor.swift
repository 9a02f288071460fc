import CLinux
import Glibc
import TomboloHTTP
import TomboloLoop

/// Who started this process and looks after it, where it is systemd.
///
/// It hears how the relay is (sd_notify(3)), and it may have bound the listener
/// (sd_listen_fds(3)). Where there is none, nothing is said.
struct Supervisor: Sendable {
    /// The socket that the listener was handed over with.
    let listener: InheritedSocket?
    /// A manager that hears nothing for so long ends the relay; nil: it does not wait.
    let patience: Duration?
    private let place: String?

    /// The first descriptor that is handed over, by the protocol.
    private static let firstDescriptor: Int32 = 3
    /// A manager whose queue is full gets the message later.
    private static let tries = 50
    private static let pause = Duration.milliseconds(20)
    /// Less would be nothing but messages.
    private static let patienceMin = Duration.milliseconds(100)

    /// From the variables of the protocols. What is meant for another process counts for nothing.
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

    /// What the listener's socket says instead of `listen`.
    var address: SocketAddressText? {
        listener.map {
            SocketAddressText(host: $0.address.host, port: UInt16(clamping: $0.address.port))
        }
    }

    /// The relay takes requests, or has its new configuration.
    func ready(_ status: String? = nil, on loop: EpollLoop) async {
        await tell("READY=1" + (status.map { "\nSTATUS=\($0)" } ?? ""), on: loop)
    }

    /// It reads its configuration again; `ready` follows.
    func reloading(on loop: EpollLoop) async {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        await tell("RELOADING=1\nMONOTONIC_USEC=\(microseconds)", on: loop)
    }

    /// It takes no more, and finishes what it has.
    func stopping(on loop: EpollLoop) async {
        await tell("STOPPING=1\nSTATUS=It finishes what it accepted", on: loop)
    }

    /// Says twice in the manager's patience that the loop turns, until it is cancelled.
    func reassure(on loop: EpollLoop) async throws {
        guard let patience else { return }
        while true {
            await tell("WATCHDOG=1", on: loop)
            try await loop.sleep(for: patience / 2)
        }
    }

    /// A manager that is gone hears nothing: the relay goes on without it.
    private func tell(_ message: String, on loop: EpollLoop) async {
        guard let place else { return }
        for _ in 0..<Self.tries {
            guard Self.send(message, to: place) == EAGAIN else { return }
            // Cancelled: the relay ends, and the manager sees that by itself.
            guard (try? await loop.sleep(for: Self.pause)) != nil else { return }
        }
    }

    /// One datagram; answers 0, or errno.
    private static func send(_ message: String, to place: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(place.utf8)
        // A name that begins with @ is in the abstract namespace.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
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
