import CLinux
import Glibc
package import TomboloLoop

/// Serves HTTP/1.1 and HTTP/2 on one port, with or without TLS. On its loop only, except `init`.
///
/// Under TLS, ALPN decides between `h2` and `http/1.1`; in clear text, and for a client without
/// ALPN, the first bytes decide (HTTP/2 with prior knowledge, RFC 9113, 3.3). Each request calls
/// the handler once, in a child task of `run`.
///
/// ```swift
/// struct Hello: HTTPHandler {
///     func handle(_ exchange: HTTPExchange) async {
///         exchange.respond(200, ["content-type": "text/plain"], Array("hello\n".utf8))
///     }
/// }
/// let server = try HTTPServer(
///     loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 8080), handler: Hello())
/// try await server.run()
/// ```
package final class HTTPServer: @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    private enum State {
        case accepting
        /// Accepts no new connections and requests, and finishes accepted requests.
        case draining
        /// All remaining connections are cut.
        case cut
    }

    /// The bound address, with the actual port.
    package let address: SocketAddress
    private let loop: EpollLoop
    private let listener: Listener
    private let limits: HTTPServerLimits
    private let isSecure: Bool
    private let handler: any HTTPHandler
    private let unixTime: (@Sendable () -> Int64)?

    private var state = State.accepting
    private var connections: [UInt64: HTTPServerConnection] = [:]
    package let memory: HTTPServerMemory
    package let cuts = HTTPServerCuts()
    private var handshakes: HTTPAddressAllowances
    private var connectionsByAddress: [String: Int] = [:]
    private var connectionsAccepted: UInt64 = 0
    private var requests: [HTTPExchange] = []
    private let work: Parking
    private var drainers: [Parking] = []

    /// Binds and listens. Connections wait in the kernel's queue until `run`. Throws if the address
    /// cannot be used.
    ///
    /// - Parameters:
    ///   - inherited: a socket to listen on instead of binding one.
    ///   - unixTime: seconds since 1970, for the date of each answer; nil means no date.
    package init(
        loop: EpollLoop, listen place: ListenAddress, inherited: InheritedSocket? = nil,
        tls: TLSServerConfiguration? = nil,
        limits: HTTPServerLimits = HTTPServerLimits(), unixTime: (@Sendable () -> Int64)? = nil,
        handler: any HTTPHandler
    ) throws(ConnectionError) {
        self.loop = loop
        self.limits = limits
        self.handler = handler
        self.unixTime = unixTime
        isSecure = tls != nil
        memory = HTTPServerMemory(bytesMax: limits.bytesHeldMax)
        handshakes = HTTPAddressAllowances(
            burst: limits.handshakesBurst, perSecond: limits.handshakesPerSecond)
        listener =
            if let inherited {
                try Listener(on: loop, inheriting: inherited, tls: tls.map(Self.advising))
            } else {
                try Listener(on: loop, at: place, tls: tls.map(Self.advising))
            }
        address = listener.address
        work = Parking(loop)
    }

    /// Sets the certificate for new connections; existing ones keep theirs. Only for a server that
    /// was made with TLS.
    package func reload(_ tls: TLSServerConfiguration) {
        loop.checkIsolated()
        precondition(isSecure, "a server in clear text stays one")
        listener.tls = Self.advising(tls)
    }

    /// Returns the configuration with an answer for clients that speak clear text to this port.
    private static func advising(_ tls: TLSServerConfiguration) -> TLSServerConfiguration {
        var tls = tls
        tls.clearTextAnswer = HTTPServerProblem.tlsExpected.wireForm
        return tls
    }

    /// Number of open connections.
    package var connectionCount: Int { connections.count }

    /// Serves until `drain` has ended or the task is cancelled; cancelling cuts every connection.
    /// Returns when the last handler has returned.
    package func run() async throws {
        loop.checkIsolated()
        try listener.start(self)
        memory.exceeded = { [unowned self] in cutLargest() }
        await withDiscardingTaskGroup { group in
            while state == .accepting || !connections.isEmpty {
                let wake = await work.park()
                startHandlers(&group)
                guard wake != .cancelled else {
                    cut()
                    break
                }
            }
            // Requests whose connection has ended already: run their handlers too, to clean up.
            startHandlers(&group)
            if state == .cut { group.cancelAll() }
        }
        listener.close()
        for drainer in drainers { drainer.unpark() }
    }

    private func startHandlers(_ group: inout DiscardingTaskGroup) {
        guard !requests.isEmpty else { return }
        let batch = requests
        requests.removeAll(keepingCapacity: true)
        for exchange in batch {
            let handler = handler
            group.addTask(executorPreference: loop) { await exchange.run(handler) }
        }
    }

    /// Stops accepting, notifies every peer (GOAWAY, `connection: close`), finishes accepted
    /// requests, and cuts the remaining connections after `time`. Returns when no connection is
    /// open. `run` returns after the last handler.
    package func drain(within time: Duration) async {
        loop.checkIsolated()
        let deadline = loop.now + time
        if state == .accepting {
            state = .draining
            listener.close()
            for id in connections.keys.sorted() { connections[id]?.drain() }
            work.unpark()
        }
        let place = Parking(loop)
        drainers.append(place)
        while !connections.isEmpty {
            if await place.park(until: deadline) != .signal { cut() }
        }
        drainers.removeAll { $0 === place }
    }

    private func cut() {
        state = .cut
        listener.close()
        for id in connections.keys.sorted() { connections[id]?.abort() }
        work.unpark()
    }
}

extension HTTPServer: ListenerOwner {
    package func accepted(_ connection: Connection) {
        let peerAddress = connection.peer.host
        let network = SocketAddress.network(ofHost: peerAddress)
        guard state == .accepting else { return connection.abort() }
        guard connectionsByAddress[network, default: 0] < limits.connectionsPerAddress else {
            cuts.count(.connections)
            return connection.abort()
        }
        guard !isSecure || handshakes.takeOne(network: network, now: loop.now) else {
            cuts.count(.handshakes)
            return connection.abort()
        }
        boundKernel(connection.descriptor)
        connectionsAccepted += 1
        connectionsByAddress[network, default: 0] += 1
        let accepted = HTTPServerConnection(
            id: connectionsAccepted, stream: connection, peerAddress: peerAddress,
            isSecure: isSecure, loop: loop, limits: limits, memory: memory, cuts: cuts,
            unixTime: unixTime, server: self)
        connections[accepted.id] = accepted
        if connections.count >= limits.connections { listener.pause() }
        connection.start(accepted)
    }

    /// Makes the kernel detect a peer that vanished: unacknowledged bytes end the connection, and
    /// an idle connection is probed. Otherwise a streamed answer would go on for a quarter of an
    /// hour. If a socket refuses the options, it is served without them.
    ///
    /// Also limits the unsent bytes that the kernel holds.
    private func boundKernel(_ descriptor: Int32) {
        _ = tombolo_set_option(
            descriptor, Int32(IPPROTO_TCP), Self.notSentLowWater, Self.kernelBytesMax)
        let stall = Int32(clamping: limits.writeStall.nanoseconds / 1_000_000)
        let idle = Int32(clamping: max(limits.idleTime.nanoseconds / 1_000_000_000, 1))
        _ = tombolo_set_option(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, stall)
        _ = tombolo_set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        _ = tombolo_set_option(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, idle)
        _ = tombolo_set_option(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
    }
}

extension HTTPServer {
    /// TCP_NOTSENT_LOWAT (tcp(7)). Glibc's module does not export it.
    private static let notSentLowWater: Int32 = 25
    /// Value of TCP_NOTSENT_LOWAT. Without it the kernel buffers megabytes for a slow peer.
    private static let kernelBytesMax: Int32 = 128 * 1024

    /// Cuts the connections that hold the most memory until the total is within the limit.
    private func cutLargest() {
        while memory.isExceeded {
            // If several hold the same, take the oldest, so the dictionary's order has no effect.
            let largest = connections.values.max {
                ($0.memory.bytes, $1.id) < ($1.memory.bytes, $0.id)
            }
            guard let largest, largest.memory.bytes > 0 else { return }
            cuts.count(.memory)
            largest.abort()
        }
    }
}

extension HTTPServer: HTTPServerConnectionOwner {
    package func opened(_ connection: HTTPServerConnection) { handler.opened(connection) }

    package func requested(_ exchange: HTTPExchange) {
        requests.append(exchange)
        work.unpark()
    }

    package func closed(_ connection: HTTPServerConnection, wasOpened: Bool) {
        connections[connection.id] = nil
        let network = SocketAddress.network(ofHost: connection.peerAddress)
        let others = connectionsByAddress[network, default: 1] - 1
        connectionsByAddress[network] = others > 0 ? others : nil
        if wasOpened { handler.closed(connection) }
        if state == .accepting {
            listener.resume()
        } else if connections.isEmpty {
            work.unpark()
            for drainer in drainers { drainer.unpark() }
        }
    }
}
