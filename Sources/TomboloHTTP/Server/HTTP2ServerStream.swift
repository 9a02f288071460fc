import CNghttp2
import TomboloLoop

/// One stream of an HTTP/2 connection, which carries one exchange. nghttp2 reaches it by its
/// address; the session's slab retains it from the head until the stream is closed.
final class HTTP2ServerStream {
    let id: Int32
    /// Its index in the session's slab.
    let slot: Int
    private let home: HTTP2ServerSession
    /// True once the stream is closed; then calls have no effect.
    private var isClosed = false
    private(set) var exchange: HTTPExchange?
    var head = HTTP2RequestHead()

    private var output = HTTPByteQueue()
    private var isOutputComplete = false
    /// True if the answer's body is a shared constant, which does not count as memory held.
    private var isShared = false
    /// Bytes that the peer has taken or sent since `progressAt`.
    private var movedBytes = 0
    /// True if nghttp2 asked for bytes when there were none. It must be resumed for new bytes.
    private var isDeferred = false
    private var isContinueDue = false
    private var isHead = false
    private var bodyIsComplete = false
    /// Received bytes that were not yet added to the peer's flow-control window again.
    private(set) var bytesUnconsumed = 0
    /// Last time at which the peer took a part of the answer or sent one of the body beside it, or
    /// at which the answer began.
    private(set) var progressAt: MonotonicInstant

    init(id: Int32, slot: Int, session: HTTP2ServerSession) {
        self.id = id
        self.slot = slot
        home = session
        progressAt = session.now
    }

    private var session: HTTP2ServerSession? { isClosed ? nil : home }

    var isWaitingForPeer: Bool { !output.isEmpty }
    var isBodyComplete: Bool { bodyIsComplete }

    func began(_ exchange: HTTPExchange, isHead: Bool, expectsContinue: Bool) {
        self.exchange = exchange
        self.isHead = isHead
        isContinueDue = expectsContinue
    }

    // MARK: From the peer

    func received(_ piece: UnsafeBufferPointer<UInt8>) {
        bytesUnconsumed += piece.count
        guard let exchange, !isOutputComplete else {
            took(piece.count)
            return
        }
        noteMoved(piece.count)
        exchange.received(Array(piece))
    }

    func bodyCompleted() {
        bodyIsComplete = true
        exchange?.bodyCompleted()
    }

    /// Moves bytes of the answer to `target`. Returns nil if there are none yet.
    func fill(_ target: UnsafeMutableRawBufferPointer) -> (count: Int, isEnd: Bool)? {
        if output.isEmpty, !isOutputComplete {
            isDeferred = true
            return nil
        }
        let count = output.move(to: target)
        home.memory.releaseAnswer(isShared ? 0 : count)
        noteMoved(count)
        exchange?.answerProgressed()
        return (count, isOutputComplete && output.isEmpty)
    }

    /// Counts bytes that the peer took or sent. It is progress if they are `bytesTakenMin` or if no
    /// more are queued: single bytes now and then do not count.
    private func noteMoved(_ count: Int) {
        movedBytes += count
        guard output.isEmpty || movedBytes >= home.bytesTakenMin else { return }
        movedBytes = 0
        progressAt = home.now
    }

    /// The stream is closed. If request or answer is incomplete, the exchange is lost.
    func closed() {
        isClosed = true
        let isWhole = bodyIsComplete && isOutputComplete && output.isEmpty
        home.memory.releaseAnswer(isShared ? 0 : output.count)
        output.removeAll()
        if isWhole { exchange?.peerClosedItsSide() } else { exchange?.lost() }
        exchange = nil
    }
}

extension HTTP2ServerStream: HTTPExchangeWire {
    var unreadBytes: Int { output.count }
    var memory: HTTPConnectionMemory? { home.memory }

    func wantsBody() {
        guard isContinueDue, let session else { return }
        isContinueDue = false
        session.submitContinue(self)
    }

    func took(_ byteCount: Int) {
        guard byteCount > 0, let session else { return }
        bytesUnconsumed -= byteCount
        session.consume(self, byteCount)
    }

    func respond(_ status: Int, _ fields: HTTPFields, _ body: [UInt8], isShared: Bool) {
        guard let session else { return }
        let hasBody = !isHead && status != 204 && status != 304
        self.isShared = isShared
        isContinueDue = false
        if hasBody {
            output.append(body)
            if !isShared { session.memory.holdAnswer(body.count) }
        }
        isOutputComplete = true
        progressAt = session.now
        session.submitHead(
            self,
            HTTP2FieldBlock(
                status: status, fields: session.dated(fields), length: hasBody ? body.count : nil),
            hasBody: hasBody && !body.isEmpty)
    }

    func begin(_ status: Int, _ fields: HTTPFields) {
        guard let session else { return }
        progressAt = session.now
        // `100 Continue` must not follow the final head (RFC 9113, 8.1), so send it first.
        if isContinueDue { session.submitContinue(self) }
        isContinueDue = false
        session.submitHead(
            self, HTTP2FieldBlock(status: status, fields: session.dated(fields)), hasBody: true)
    }

    func write(_ piece: [UInt8]) {
        guard let session, !isHead else { return }
        if output.isEmpty { progressAt = session.now }
        output.append(piece)
        session.memory.holdAnswer(piece.count)
        resume(session)
    }

    func finish() {
        guard let session else { return }
        isOutputComplete = true
        resume(session)
    }

    private func resume(_ session: HTTP2ServerSession) {
        guard isDeferred else { return }
        isDeferred = false
        session.resume(self)
    }

    func reset(code: UInt32) { session?.reset(self, code: code) }

    func handlerReturned() {
        exchange = nil
        home.handlerReturned()
    }
}
