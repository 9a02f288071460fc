import CLinux
import Glibc
package import TomboloLoop

extension Connection {
    /// Connects to `host`, and does the TLS handshake if `tls` is given. Tries each address of a
    /// name in turn, each with its share of the remaining time.
    ///
    /// Returns an open connection without an owner and with reading paused: call `handOver`, then
    /// `resumeReading`. Throws the last address's error, or `cancelled`.
    package static func dial(
        host: String, port: Int, tls: TLSClientConfiguration?, on loop: EpollLoop,
        within timeout: Duration, buffers: ConnectionBuffers = ConnectionBuffers()
    ) async throws(ConnectionError) -> Connection {
        loop.checkIsolated()
        let deadline = loop.now + timeout
        let addresses = try await Resolver.addresses(
            of: host, port: port, on: loop, until: deadline)
        return try await dial(
            addresses, of: host, tls: tls, on: loop, until: deadline, buffers: buffers)
    }

    /// Like the function above, for known addresses. The certificate must name `host`.
    package static func dial(
        _ addresses: [SocketAddress], of host: String, tls: TLSClientConfiguration?,
        on loop: EpollLoop, until deadline: MonotonicInstant,
        buffers: ConnectionBuffers = ConnectionBuffers()
    ) async throws(ConnectionError) -> Connection {
        var last = ConnectionError(.unresolved, "'\(host)' has no address")
        for (index, address) in addresses.enumerated() {
            let share = (deadline - loop.now) / (addresses.count - index)
            guard share > .zero else { break }
            do throws(ConnectionError) {
                let connection = try begin(address, host, tls, loop, buffers)
                return try await DialWaiter(connection).wait(until: loop.now + share)
            } catch {
                if error.kind == .cancelled { throw error }
                last = error
            }
        }
        throw last
    }

    private static func begin(
        _ address: SocketAddress, _ host: String, _ tls: TLSClientConfiguration?,
        _ loop: EpollLoop, _ buffers: ConnectionBuffers
    ) throws(ConnectionError) -> Connection {
        let descriptor = tombolo_stream_socket(address.family)
        guard descriptor >= 0 else {
            throw ConnectionError(.local, "no socket for \(address)", errno: errno)
        }
        let result = address.withSocketAddress { connect(descriptor, $0, $1) }
        guard result == 0 || errno == EINPROGRESS else {
            let error = ConnectionError(
                .refused, "\(address) cannot be connected to", errno: errno)
            Glibc.close(descriptor)
            throw error
        }
        guard let tls else {
            return Connection(
                connecting: descriptor, to: address, tls: nil, on: loop, buffers: buffers)
        }
        do throws(TLSError) {
            let session = try TLSSession(client: tls, host: host, descriptor: descriptor)
            return Connection(
                connecting: descriptor, to: address, tls: session, on: loop, buffers: buffers)
        } catch {
            Glibc.close(descriptor)
            throw ConnectionError(.tls, error.message)
        }
    }
}

/// The owner of a connection until it is open.
private final class DialWaiter: ByteStreamOwner {
    private let connection: Connection
    private let parking: Parking
    private var isOpen = false
    private var error: ConnectionError?

    init(_ connection: Connection) {
        self.connection = connection
        parking = Parking(connection.loop)
    }

    func wait(until deadline: MonotonicInstant) async throws(ConnectionError) -> Connection {
        connection.pauseReading()
        connection.start(self)
        while !isOpen, error == nil {
            switch await parking.park(until: deadline) {
            case .signal: continue
            case .deadline:
                connection.abort()
                throw ConnectionError(
                    .timedOut, "\(connection.peer) did not take the connection in time")
            case .cancelled:
                connection.abort()
                throw ConnectionError(.cancelled, "connecting was cancelled")
            }
        }
        if let error { throw error }
        return connection
    }

    func opened() {
        isOpen = true
        parking.unpark()
    }

    func closed(_ error: ConnectionError?) {
        self.error = error ?? ConnectionError(.cancelled, "connecting was stopped")
        parking.unpark()
    }

    func received(_ bytes: UnsafeRawBufferPointer) {}
    func fillOutput(_ output: OutputBuffer) {}
    func inputEnded() {}
}
