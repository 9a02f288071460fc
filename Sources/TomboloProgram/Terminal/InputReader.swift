import Glibc
import TomboloLoop

/// Reads a file, a pipe or a terminal in pieces without blocking the loop. Used on the loop only.
final class InputReader: ReadinessTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// True for a file. It is always ready, and epoll does not accept it.
    private let isFile: Bool
    private let loop: EpollLoop
    private let parking: Parking

    /// Maximum number of bytes that one `next` returns.
    static let pieceBytes = 64 << 10

    /// Opens `path`; nil and `-` are stdin.
    init(_ path: String?, loop: EpollLoop) throws(ProgramError) {
        if let path, path != "-" {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                throw .usage(
                    "\(path) cannot be read: \(SystemError(errno))", remedy: "ls -l \(path)")
            }
            ownsDescriptor = true
        } else {
            descriptor = 0
            ownsDescriptor = false
        }
        var status = stat()
        isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        self.loop = loop
        parking = Parking(loop)
    }

    /// Takes over the descriptor and closes it later.
    init(owning descriptor: Int32, loop: EpollLoop) {
        self.descriptor = descriptor
        ownsDescriptor = true
        isFile = false
        self.loop = loop
        parking = Parking(loop)
    }

    deinit { if ownsDescriptor { close(descriptor) } }

    enum Reading: Hashable, Sendable {
        case bytes([UInt8])
        /// Nothing came before the deadline.
        case pause
        case end
    }

    /// The next bytes. Throws `CancellationError` or an error of the system.
    func next(until deadline: MonotonicInstant? = nil) async throws -> Reading {
        if !isFile, try await !waitUntilReadable(deadline) { return .pause }
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ProgramError("cannot read: \(SystemError(errno))") }
            return count > 0 ? .bytes(Array(piece[..<count])) : .end
        }
    }

    func becameReady(_ readiness: Readiness) {
        // epoll would report the descriptor again and again: pause it until the task has read.
        loop.modify(descriptor, [])
        parking.unpark()
    }

    /// Waits until a read will not block: there are bytes, or the input has ended. Returns false if
    /// the deadline comes first. Descriptors that epoll does not accept (`/dev/null`) are always
    /// ready.
    private func waitUntilReadable(_ deadline: MonotonicInstant?) async throws -> Bool {
        while !isReadable {
            do {
                try loop.register(descriptor, .readable, self)
            } catch {
                return true
            }
            defer { loop.deregister(descriptor) }
            switch await parking.park(until: deadline) {
            case .signal: continue
            case .deadline: return false
            case .cancelled: throw CancellationError()
            }
        }
        return true
    }

    private var isReadable: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) != 0
    }
}
