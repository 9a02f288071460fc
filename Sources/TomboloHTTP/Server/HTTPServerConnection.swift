package import TomboloLoop

/// A peer's connection to the server, in any HTTP version. On the loop only.
package final class HTTPServerConnection: @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    /// Protocol of the connection.
    private enum Mode {
        /// Before the end of the handshake.
        case opening
        /// There is no ALPN, so the first bytes decide. `matched` bytes equal HTTP/2's preface.
        case undecided(matched: Int)
        case session(any HTTPServerSession)
        case closed
    }

    /// An HTTP/2 client sends this first (RFC 9113, 3.4). No HTTP/1.1 request begins like it.
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Unique in the process, in the order of accepting, from 1.
    package let id: UInt64
    /// The peer's numeric address, without its port.
    package let peerAddress: String

    let loop: any Loop
    let limits: HTTPServerLimits
    /// Seconds since 1970, for the date of each answer; nil means no date.
    private let unixTime: (@Sendable () -> Int64)?
    let memory: HTTPConnectionMemory
    let cuts: HTTPServerCuts
    private let isSecure: Bool
    private let stream: any ByteStream
    /// Retained until it is notified of the connection's end, which may be after `run` has
    /// returned. `closed` then breaks the reference cycle.
    private let server: any HTTPServerConnectionOwner
    private var mode = Mode.opening
    private let since: MonotonicInstant

    private var timer = TimerID()
    private var timerAt = MonotonicInstant.distantFuture
    private var sentBytes: UInt64 = 0
    private var progressAt: MonotonicInstant
    private var isDraining = false

    /// Takes over a byte stream. The caller must make this connection the stream's owner and call
    /// `opened()`.
    package init(
        id: UInt64, stream: any ByteStream, peerAddress: String, isSecure: Bool, loop: any Loop,
        limits: HTTPServerLimits, memory: HTTPServerMemory? = nil, cuts: HTTPServerCuts? = nil,
        unixTime: (@Sendable () -> Int64)? = nil, server: any HTTPServerConnectionOwner
    ) {
        self.unixTime = unixTime
        self.memory = HTTPConnectionMemory(
            memory ?? HTTPServerMemory(bytesMax: limits.bytesHeldMax))
        self.cuts = cuts ?? HTTPServerCuts()
        self.id = id
        self.stream = stream
        self.peerAddress = peerAddress
        self.isSecure = isSecure
        self.loop = loop
        self.limits = limits
        self.server = server
        since = loop.now
        progressAt = loop.now
    }

    // MARK: For handlers

    /// Sets how many requests the peer may have open at once. HTTP/2 only; the initial value is
    /// `streamsPerConnection` of the limits.
    package func setMaxConcurrentStreams(_ count: Int) {
        loop.checkIsolated()
        session?.setMaxConcurrentStreams(count)
    }

    /// Sends GOAWAY (RFC 9113, 6.8) with a code and a reason. Requests above `lastStream` (nil:
    /// above the newest request received) are dropped. The connection ends with its last request;
    /// in HTTP/1.1, after the current one.
    package func goAway(code: UInt32 = 0, reason: [UInt8] = [], lastStream: Int32? = nil) {
        loop.checkIsolated()
        session?.goAway(code: code, reason: reason, lastStream: lastStream)
    }

    /// Cuts the connection without notifying the peer.
    package func abort() {
        loop.checkIsolated()
        memory.close()
        stream.abort()
    }

    // MARK: For the server

    /// Takes no more requests, finishes accepted ones, then closes the connection.
    func drain() {
        isDraining = true
        switch mode {
        case .opening, .undecided: stream.close()
        case .session(let session): session.drain()
        case .closed: break
        }
        afterEvent()
    }

    private var session: (any HTTPServerSession)? {
        if case .session(let session) = mode { session } else { nil }
    }

    // MARK: Deadlines

    private var deadline: MonotonicInstant {
        let own: MonotonicInstant =
            switch mode {
            case .opening: since + limits.headTime
            case .undecided(let matched):
                since + (matched > 0 ? limits.headTime : limits.idleTime)
            case .session(let session): session.deadline ?? .distantFuture
            case .closed: .distantFuture
            }
        return stream.unsentBytes > 0 ? min(own, progressAt + limits.writeStall) : own
    }

    /// Sets the timer earlier if the next deadline is earlier. It is set again if it fires early.
    private func afterEvent() {
        noteProgress()
        if case .closed = mode { return }
        // At least 1 ms from now: a deadline that just expired takes effect at the end of the turn.
        let due = max(deadline, loop.now + .milliseconds(1))
        guard due < timerAt else { return }
        loop.cancel(timer)
        timerAt = due
        timer = loop.schedule(at: due, self)
    }

    private func noteProgress() {
        let hasTaken = stream.sentBytes - sentBytes >= UInt64(limits.bytesTakenMin)
        guard hasTaken || stream.unsentBytes == 0 else { return }
        sentBytes = stream.sentBytes
        progressAt = loop.now
    }
}

extension HTTPServerConnection: TimerTarget {
    package func timerFired() {
        timerAt = .distantFuture
        noteProgress()
        guard deadline <= loop.now else { return afterEvent() }
        if stream.unsentBytes > 0, progressAt + limits.writeStall <= loop.now {
            cuts.count(.stalled)
            stream.abort()
        } else if let session {
            session.deadlinePassed()
        } else {
            cuts.count(.stalled)
            stream.abort()
        }
        afterEvent()
    }
}

extension HTTPServerConnection: ByteStreamOwner {
    package func opened() {
        switch stream.applicationProtocol {
        case "h2"?: speak(HTTP2ServerSession(owner: self))
        case "http/1.1"?: speak(HTTP1ServerSession(owner: self))
        default: mode = .undecided(matched: 0)
        }
        afterEvent()
    }

    private func speak(_ session: any HTTPServerSession) {
        mode = .session(session)
        server.opened(self)
        if isDraining { session.drain() }
        stream.wantsOutput()
    }

    package func received(_ bytes: UnsafeRawBufferPointer) {
        switch mode {
        case .session(let session): session.receive(bytes)
        case .undecided(let matched): decide(matched, bytes)
        case .opening, .closed: return
        }
        updateReading()
        afterEvent()
    }

    /// Compares the first bytes with HTTP/2's preface. The chosen session gets these bytes too.
    private func decide(_ matched: Int, _ bytes: UnsafeRawBufferPointer) {
        let rest = Self.preface[matched...]
        let same = zip(rest, bytes).prefix { $0 == $1 }.count
        if same == bytes.count, same < rest.count {
            mode = .undecided(matched: matched + same)
            return
        }
        let session: any HTTPServerSession =
            same == rest.count ? HTTP2ServerSession(owner: self) : HTTP1ServerSession(owner: self)
        speak(session)
        if matched > 0 { Self.preface[..<matched].withUnsafeBytes { session.receive($0) } }
        session.receive(bytes)
    }

    package func fillOutput(_ output: OutputBuffer) {
        guard let session else { return }
        session.produce(into: output)
        noteProgress()
        session.outputProgressed()
        if session.isFinished { stream.close() } else { updateReading() }
        afterEvent()
    }

    private func updateReading() {
        guard let session else { return }
        if session.wantsBytes { stream.resumeReading() } else { stream.pauseReading() }
    }

    package func inputEnded() {
        if let session { session.receivedEnd() } else { stream.close() }
        stream.wantsOutput()
        afterEvent()
    }

    package func closed(_ error: ConnectionError?) {
        let session = session
        memory.close()
        mode = .closed
        loop.cancel(timer)
        session?.lost()
        server.closed(self, wasOpened: session != nil)
    }
}

extension HTTPServerConnection: HTTPServerSessionOwner {
    var bytesUnwritten: Int { stream.unsentBytes }
    var date: String? { unixTime.map { HTTPDate.text(unixTime: $0()) } }

    func opened(
        _ request: HTTPServerRequest, over wire: any HTTPExchangeWire
    ) -> HTTPExchange {
        let head = HTTPRequestHead(
            method: request.method, target: request.target, scheme: isSecure ? "https" : "http",
            authority: request.authority, fields: request.fields, version: request.version,
            peerAddress: peerAddress)
        let exchange = HTTPExchange(
            head: head, bodyLength: request.bodyLength, connection: self, loop: loop,
            limits: limits, wire: wire)
        server.requested(exchange)
        return exchange
    }

    func sessionHasOutput() {
        stream.wantsOutput()
        afterEvent()
    }

    func sessionWantsBytes() {
        updateReading()
        afterEvent()
    }
}

/// Owner of a connection.
package protocol HTTPServerConnectionOwner: AnyObject {
    /// The connection is open: its TLS handshake, if any, has succeeded.
    func opened(_ connection: HTTPServerConnection)
    /// A request's head has come. The owner must run its exchange.
    func requested(_ exchange: HTTPExchange)
    /// The connection has ended. `wasOpened` is true if `opened` was called.
    func closed(_ connection: HTTPServerConnection, wasOpened: Bool)
}
