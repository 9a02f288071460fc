import CLinux
import Glibc
package import TomboloLoop

/// Where a server listens: a numeric address (`127.0.0.1`, `::1`, `0.0.0.0`, `::`) or `localhost`,
/// and a port; 0 lets the system choose.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Takes the connections that a listener accepts.
package protocol ListenerOwner: AnyObject {
    /// Called on the loop. The owner must start or abort the connection. A connection that is
    /// released without a start is closed.
    func accepted(_ connection: Connection)
}

/// A listening socket: accepted connections go to its owner. On the loop only, except `init`.
package final class Listener: ReadinessTarget, TimerTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    /// Length of the kernel's queue of connections that wait for `accept`.
    package static let backlog: Int32 = 1024
    /// At most this many connections are accepted in one turn, so that many new ones do not delay
    /// the existing ones.
    static let acceptedPerTurnMax = 64
    /// How long accepting pauses when this machine has no free descriptors.
    static let restWithoutDescriptors: Duration = .milliseconds(100)

    /// The bound address, with the actual port.
    package let address: SocketAddress
    /// TLS for new connections; set it to reload the certificate.
    package var tls: TLSServerConfiguration?

    private let loop: EpollLoop
    private let descriptor: Int32
    private let buffers: ConnectionBuffers
    private weak var owner: (any ListenerOwner)?
    private var timer = TimerID()
    private var state = State.bound

    private enum State { case bound, accepting, paused, closed }

    /// Binds and listens, with SO_REUSEADDR so that a restarted server need not wait for the port.
    /// Accepts nothing before `start`. May be called from any thread.
    package init(
        on loop: EpollLoop, at place: ListenAddress, tls: TLSServerConfiguration?,
        buffers: ConnectionBuffers = ConnectionBuffers()
    ) throws(ConnectionError) {
        self.loop = loop
        self.tls = tls
        self.buffers = buffers
        (descriptor, address) = try Self.bind(place)
    }

    /// Listens on a socket that a service manager has bound. Accepts nothing before `start`. May be
    /// called from any thread. The listener then owns the socket.
    package init(
        on loop: EpollLoop, inheriting socket: InheritedSocket, tls: TLSServerConfiguration?,
        buffers: ConnectionBuffers = ConnectionBuffers()
    ) throws(ConnectionError) {
        guard let actual = SocketAddress({ getsockname(socket.descriptor, $0, &$1) }) else {
            throw ConnectionError(
                .local, "cannot listen at \(socket.address)", errno: errno)
        }
        self.loop = loop
        self.tls = tls
        self.buffers = buffers
        (descriptor, address) = (socket.descriptor, actual)
    }

    deinit {
        if state != .closed { Glibc.close(descriptor) }
    }

    /// Throws if the host of `place` is not an address of this machine. The port is ignored.
    package static func tryAddress(of place: ListenAddress) throws(ConnectionError) {
        Glibc.close(try socket(at: place, port: 0))
    }

    private static func bind(_ place: ListenAddress) throws(ConnectionError) -> (
        Int32, SocketAddress
    ) {
        let descriptor = try socket(at: place, port: place.port)
        guard listen(descriptor, backlog) == 0,
            let actual = SocketAddress({ getsockname(descriptor, $0, &$1) })
        else {
            let error = ConnectionError(.local, "cannot listen at \(place)", errno: errno)
            Glibc.close(descriptor)
            throw error
        }
        return (descriptor, actual)
    }

    /// Returns a bound socket that does not listen yet.
    private static func socket(
        at place: ListenAddress, port: Int
    ) throws(ConnectionError) -> Int32 {
        let host = place.host == "localhost" ? "127.0.0.1" : place.host
        guard (0...65_535).contains(place.port),
            case .success(let found) = Resolver.lookUp(
                host, port, AI_NUMERICHOST | AI_PASSIVE),
            let address = found.first
        else {
            throw ConnectionError(
                .local, "cannot listen at \(place): give an address in numbers and a port")
        }
        let descriptor = tombolo_stream_socket(address.family)
        guard descriptor >= 0 else {
            throw ConnectionError(.local, "no socket to listen at \(place)", errno: errno)
        }
        _ = tombolo_set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        guard address.withSocketAddress({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
            let error = ConnectionError(.local, "cannot listen at \(place)", errno: errno)
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Starts accepting. `owner` is referenced weakly.
    package func start(_ owner: any ListenerOwner) throws(ConnectionError) {
        loop.checkIsolated()
        precondition(state == .bound, "a listener starts once")
        self.owner = owner
        do throws(LoopError) {
            try loop.register(descriptor, .readable, self)
        } catch {
            throw ConnectionError(.local, error.description)
        }
        state = .accepting
    }

    /// Stops accepting until `resume`, for a full server. New connections wait in the kernel.
    package func pause() {
        loop.checkIsolated()
        guard state == .accepting else { return }
        state = .paused
        loop.modify(descriptor, [])
    }

    /// Goes on accepting after `pause()`.
    package func resume() {
        loop.checkIsolated()
        guard state == .paused else { return }
        state = .accepting
        loop.modify(descriptor, .readable)
    }

    /// Stops listening. Accepted connections go on.
    package func close() {
        loop.checkIsolated()
        guard state != .closed else { return }
        state = .closed
        loop.cancel(timer)
        loop.deregister(descriptor)
        Glibc.close(descriptor)
    }

    package func becameReady(_ readiness: Readiness) {
        for _ in 0..<Self.acceptedPerTurnMax {
            guard state == .accepting else { return }
            var accepted: Int32 = -1
            let peer = SocketAddress { address, length in
                accepted = tombolo_accept(descriptor, address, &length)
                return accepted
            }
            guard let peer else {
                guard errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
                else { return }
                rest()
                return
            }
            let connection = Connection(
                accepted: accepted, from: peer, tls: tls, on: loop, buffers: buffers)
            owner?.accepted(connection)
        }
    }

    private func rest() {
        loop.modify(descriptor, [])
        timer = loop.schedule(at: loop.now + Self.restWithoutDescriptors, self)
    }

    package func timerFired() {
        if state == .accepting { loop.modify(descriptor, .readable) }
    }
}
