package import TomboloLoop

extension HTTP2Client {
    /// Connects over TCP, does the TLS handshake with ALPN `h2` if the endpoint is `https`, and
    /// waits for the peer's first SETTINGS. All of this must finish within `timeout`.
    ///
    /// A TLS server without ALPN is assumed to speak HTTP/2. Throws `notHTTP2` if the peer speaks
    /// another protocol, and the errors of `Connection.dial`.
    package static func connect(
        _ endpoint: HTTP2Endpoint, tls: TLSClientConfiguration?, on loop: EpollLoop,
        within timeout: Duration, limits: HTTP2ClientLimits = HTTP2ClientLimits()
    ) async throws(ConnectionError) -> HTTP2Client {
        let deadline = loop.now + timeout
        guard (endpoint.scheme == .https) == (tls != nil) else {
            throw ConnectionError(.tls, "https needs a TLS configuration, http takes none")
        }
        let connection = try await Connection.dial(
            host: endpoint.host, port: endpoint.port, tls: tls, on: loop, within: timeout)
        if let chosen = connection.applicationProtocol, chosen != "h2" {
            connection.abort()
            throw ConnectionError(
                .notHTTP2, "\(endpoint.authority) chose '\(chosen)' instead of HTTP/2 (h2)")
        }
        return try await speak(
            over: connection, to: endpoint.authority, on: loop, until: deadline, limits: limits
        ) { client in
            connection.handOver(to: client)
            connection.resumeReading()
        }
    }

    /// Starts HTTP/2 on an open byte stream and waits for the peer's first SETTINGS.
    ///
    /// - Parameters:
    ///   - peer: description of the peer for error messages.
    ///   - own: must make the client the stream's owner.
    package static func speak(
        over stream: any ByteStream, to peer: String, on loop: any Loop,
        until deadline: MonotonicInstant, limits: HTTP2ClientLimits = HTTP2ClientLimits(),
        own: (HTTP2Client) -> Void
    ) async throws(ConnectionError) -> HTTP2Client {
        let client = HTTP2Client(stream, limits: limits, loop: loop)
        let waiter = SettingsWaiter(Parking(loop))
        client.observer = waiter
        own(client)
        client.begin()
        try await waiter.wait(client, peer, until: deadline)
        client.observer = nil
        return client
    }

    /// Sends one request and returns its outcome within `timeout`. Waits first while `capacity` is
    /// 0. Cancelling the task cancels the request.
    package func perform(_ request: HTTP2Request, timeout: Duration) async -> HTTP2Outcome {
        loop.checkIsolated()
        let deadline = loop.now + timeout
        guard await waitForCapacity(until: deadline) else { return .notProcessed(unavailable) }
        let answer = AnswerWaiter(Parking(loop))
        let result = start(request, timeout: deadline - loop.now, receiver: answer, tag: 0)
        return await answer.wait { if case .success(let id) = result { self.cancel(id) } }
    }

    /// Sends a request whose answer is streamed. If `uploads` is true, more of its body can be
    /// written after `request.body`. Returns once the request is submitted. `timeout` limits only
    /// the wait for capacity. Throws `HTTP2Failure`.
    package func open(
        _ request: HTTP2Request, uploads: Bool = false, within timeout: Duration = .seconds(30)
    ) async throws -> HTTP2ResponseStream {
        loop.checkIsolated()
        guard await waitForCapacity(until: loop.now + timeout) else { throw unavailable }
        let stream = HTTP2ResponseStream(
            self, loop: loop, writeBytesMax: limits.streamWriteBytesMax, uploads: uploads)
        let result = start(
            request, timeout: .nanoseconds(Int64.max), receiver: nil, tag: 0, stream: stream)
        stream.begin(try result.get())
        return stream
    }

    /// Reason why no request can be submitted now.
    private var unavailable: HTTP2Failure {
        switch state {
        case .closed(let failure): failure
        case .draining(let goAway): goAway.map { .goneAway($0) } ?? .closedHere
        case .open: .deadline
        }
    }
}

/// Waits until the peer has shown that it speaks HTTP/2.
private final class SettingsWaiter: HTTP2ClientObserver {
    private let parking: Parking

    init(_ parking: Parking) { self.parking = parking }

    func clientChanged(_ client: HTTP2Client) { parking.unpark() }

    func wait(
        _ client: HTTP2Client, _ peer: String, until deadline: MonotonicInstant
    ) async throws(ConnectionError) {
        while !client.hasSettings {
            if case .closed(let failure) = client.state {
                if case .connectionLost(let error) = failure { throw error }
                throw ConnectionError(
                    .notHTTP2, "\(peer) does not speak HTTP/2: \(failure)")
            }
            switch await parking.park(until: deadline) {
            case .signal: continue
            case .deadline:
                client.close()
                throw ConnectionError(
                    .timedOut, "\(peer) sent no HTTP/2 SETTINGS in time")
            case .cancelled:
                client.close()
                throw ConnectionError(.cancelled, "connecting was cancelled")
            }
        }
    }
}

private final class AnswerWaiter: HTTP2AnswerReceiver {
    private let parking: Parking
    private var outcome: HTTP2Outcome?

    init(_ parking: Parking) { self.parking = parking }

    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome) {
        self.outcome = outcome
        parking.unpark()
    }

    /// Waits for the outcome. On cancellation it calls `giveUp`, which must settle the request.
    func wait(giveUp: () -> Void) async -> HTTP2Outcome {
        while true {
            if let outcome { return outcome }
            if await parking.park() == .cancelled, outcome == nil { giveUp() }
        }
    }
}
