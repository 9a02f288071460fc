import CLinux
import Glibc
package import TomboloLoop

/// A TCP connection with or without TLS, as client or server: bytes in and bytes out for its owner.
///
/// On the loop only. A `Listener` accepts it and `start` begins it, or `dial` makes it. From
/// `start` to `closed` the loop retains it, and it retains its owner.
package final class Connection: ByteStream, ReadinessTarget, TimerTarget, TurnTarget,
    @unchecked Sendable
{
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    /// Time for a TLS handshake after TCP is connected. It limits how long a silent peer holds a
    /// descriptor.
    package static let handshakeTimeout: Duration = .seconds(10)
    /// Time for everything that `close()` does.
    package static let closeTimeout: Duration = .seconds(5)
    /// If this many bytes were read in one turn, other connections are served first.
    static let inputPerTurnMax = 16 * OutputBuffer.recordBytes
    /// If this many bytes were written in one turn, other connections are served first.
    static let outputPerTurnMax = 64 * OutputBuffer.recordBytes
    /// A peer that sends more than this many bytes after `close()` is cut off.
    static let lingerBytesMax = 1 << 20

    enum Phase {
        /// An accepted socket before `start`.
        case idle
        /// TCP is connecting (client only).
        case connecting
        case handshaking
        case open
        /// `close()` was called; output is still going out.
        case closing
        /// All output is sent; input is dropped until the peer ends.
        case lingering
        case closed
    }

    package let peer: SocketAddress
    let loop: EpollLoop
    let buffers: ConnectionBuffers

    var phase: Phase
    var descriptor: Int32
    var tls: TLSSession?
    var owner: (any ByteStreamOwner)?
    private var endReason: ConnectionError?
    private var tlsFailure: TLSError?
    private var timer = TimerID()
    private var isAtEndOfTurn = false

    /// Output that the kernel has not taken; nil if there is none.
    var output: OutputBuffer?
    var needsFill = false
    var waitsForWritable = false
    var sentCount: UInt64 = 0

    var isReadingPaused = false
    var hasInputEnded = false
    /// True if OpenSSL may hold bytes that epoll does not report.
    var mustReadAtEndOfTurn = false
    var lingeredBytes = 0

    package private(set) var applicationProtocol: String?
    /// Answer to a client that speaks clear text to a TLS port.
    let clearTextAnswer: [UInt8]

    /// Takes a socket from `accept`; `tls` is the server's TLS, or nil for clear text.
    init(
        accepted descriptor: Int32, from peer: SocketAddress, tls: TLSServerConfiguration?,
        on loop: EpollLoop, buffers: ConnectionBuffers
    ) {
        self.descriptor = descriptor
        self.peer = peer
        self.loop = loop
        self.buffers = buffers
        phase = .idle
        clearTextAnswer = tls?.clearTextAnswer ?? []
        _ = tombolo_set_no_delay(descriptor)
        guard let tls else { return }
        do throws(TLSError) {
            self.tls = try TLSSession(server: tls, descriptor: descriptor)
        } catch {
            tlsFailure = error
        }
    }

    /// Takes a socket for which `connect` was called.
    init(
        connecting descriptor: Int32, to peer: SocketAddress, tls: consuming TLSSession?,
        on loop: EpollLoop, buffers: ConnectionBuffers
    ) {
        self.descriptor = descriptor
        self.peer = peer
        self.loop = loop
        self.buffers = buffers
        self.tls = tls
        phase = .connecting
        clearTextAnswer = []
        _ = tombolo_set_no_delay(descriptor)
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    // MARK: API

    /// Starts the handshake (within `handshakeTimeout`), then calls `opened`, then delivers input.
    /// Errors are reported by `closed`.
    package func start(_ owner: any ByteStreamOwner) {
        loop.checkIsolated()
        precondition(phase == .idle || phase == .connecting, "a connection starts once")
        self.owner = owner
        do throws(LoopError) {
            try loop.register(
                descriptor, phase == .connecting ? .writable : .readable, self)
        } catch {
            return fail(ConnectionError(.local, error.description))
        }
        if let tlsFailure { return fail(ConnectionError(.tls, tlsFailure.message)) }
        if phase == .connecting { return }
        becomeConnected()
    }

    /// Gives an open connection another owner. The previous owner must have paused reading.
    package func handOver(to owner: any ByteStreamOwner) {
        loop.checkIsolated()
        self.owner = owner
    }

    package func wantsOutput() {
        loop.checkIsolated()
        needsFill = true
        if !waitsForWritable, phase == .open || phase == .closing { callAtEndOfTurn() }
    }

    package func pauseReading() {
        loop.checkIsolated()
        isReadingPaused = true
        updateInterest()
    }

    package func resumeReading() {
        loop.checkIsolated()
        guard isReadingPaused else { return }
        isReadingPaused = false
        updateInterest()
        if tls != nil, phase == .open {
            mustReadAtEndOfTurn = true
            callAtEndOfTurn()
        }
    }

    package func close() {
        loop.checkIsolated()
        switch phase {
        case .open:
            phase = .closing
            setTimer(Self.closeTimeout)
            callAtEndOfTurn()
        case .idle, .connecting, .handshaking: abort()
        case .closing, .lingering, .closed: break
        }
    }

    package func abort() {
        loop.checkIsolated()
        end(nil)
    }

    package var unsentBytes: Int { output?.count ?? 0 }
    package var sentBytes: UInt64 { sentCount }
    package var peerDescription: String { peer.description }

    // MARK: Callbacks of the loop

    package func becameReady(_ readiness: Readiness) {
        switch phase {
        case .connecting: finishConnecting()
        case .handshaking: handshake()
        case .open, .closing, .lingering:
            if readiness.contains(.readable) { readInput() }
            if readiness.contains(.writable) || waitsForWritable { writeOutput() }
            if readiness.contains(.failed), !readiness.contains(.readable) || !wantsInput {
                failBySocketError()
            }
        case .idle, .closed: break
        }
    }

    package func turnEnded() {
        isAtEndOfTurn = false
        if phase == .closed { return tellClosed() }
        if mustReadAtEndOfTurn {
            mustReadAtEndOfTurn = false
            readInput()
        }
        writeOutput()
    }

    package func timerFired() {
        switch phase {
        case .connecting:
            fail(ConnectionError(.timedOut, "\(peer) did not take the connection in time"))
        case .handshaking:
            fail(ConnectionError(.timedOut, "the TLS handshake with \(peer) took too long"))
        case .closing:
            fail(ConnectionError(.timedOut, "\(peer) did not read the rest in time"))
        case .lingering: end(nil)
        case .idle, .open, .closed: break
        }
    }

    // MARK: Phases

    private func finishConnecting() {
        let code = tombolo_socket_error(descriptor)
        guard code == 0 else {
            return fail(ConnectionError(.refused, "\(peer) refused the connection", errno: code))
        }
        becomeConnected()
    }

    private func becomeConnected() {
        guard tls != nil else { return becomeOpen() }
        phase = .handshaking
        setTimer(Self.handshakeTimeout)
        handshake()
    }

    private func handshake() {
        guard let step = tls?.handshake() else { return }
        switch step {
        case .done: becomeOpen()
        case .wantsRead: loop.modify(descriptor, .readable)
        case .wantsWrite: loop.modify(descriptor, .writable)
        case .ended:
            fail(ConnectionError(.tls, "\(peer) ended the connection in the TLS handshake"))
        case .failed(let reason):
            guard reason != TLSSession.clearText || clearTextAnswer.isEmpty else {
                return answerInClearText()
            }
            fail(
                ConnectionError(
                    reason == TLSSession.clearText ? .notTLS : .tls,
                    "the TLS handshake with \(peer) failed: \(reason)"))
        }
    }

    private func becomeOpen() {
        loop.cancel(timer)
        applicationProtocol = tls?.applicationProtocol
        phase = .open
        updateInterest()
        owner?.opened()
        guard phase == .open else { return }
        // The handshake may have read the first application bytes already.
        if tls != nil { mustReadAtEndOfTurn = true }
        callAtEndOfTurn()
    }

    func setTimer(_ timeout: Duration) {
        loop.cancel(timer)
        timer = loop.schedule(at: loop.now + timeout, self)
    }

    func callAtEndOfTurn() {
        guard !isAtEndOfTurn else { return }
        isAtEndOfTurn = true
        loop.atEndOfTurn(self)
    }

    var wantsInput: Bool {
        !hasInputEnded && (phase == .lingering || (phase == .open && !isReadingPaused))
    }

    func updateInterest() {
        guard phase == .open || phase == .closing || phase == .lingering else { return }
        var interest: Readiness = []
        if wantsInput { interest.insert(.readable) }
        if waitsForWritable { interest.insert(.writable) }
        loop.modify(descriptor, interest)
    }

    private func failBySocketError() {
        guard phase != .closed else { return }
        let code = tombolo_socket_error(descriptor)
        if phase == .lingering { return end(nil) }
        fail(
            ConnectionError(
                .reset, "\(peer) cut the connection", errno: code == 0 ? ECONNRESET : code))
    }

    func fail(_ error: ConnectionError) { end(error) }

    /// Closes the socket now. The owner is notified at the end of the turn.
    func end(_ error: ConnectionError?) {
        guard phase != .closed else { return }
        let wasStarted = owner != nil
        phase = .closed
        endReason = error
        loop.cancel(timer)
        loop.deregister(descriptor)
        tls = nil
        Glibc.close(descriptor)
        descriptor = -1
        if wasStarted { callAtEndOfTurn() }
    }

    private func tellClosed() {
        let owner = self.owner
        self.owner = nil
        if let output { buffers.giveBack(output) }
        output = nil
        owner?.closed(endReason)
    }
}
