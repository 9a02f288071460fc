import CNghttp2
import TomboloLoop

/// One stream of an HTTP/2 connection: the wire of one exchange. nghttp2 reaches it by its address;
/// the session's slab holds it from the head until the stream is closed.
final class HTTP2ServerStream {
    let id: Int32
    /// Its place in the session's slab.
    let slot: Int
    private let home: HTTP2ServerSession
    /// Once the stream is closed nothing here has an effect.
    private var isClosed = false
    private(set) var exchange: HTTPExchange?
    var head = HTTP2RequestHead()

    private var output = HTTPByteQueue()
    private var isOutputComplete = false
    /// The answer's body is a constant, which costs nothing to hold.
    private var isShared = false
    /// Bytes that the peer has taken since `progressAt`.
    private var takenBytes = 0
    /// nghttp2 has asked for bytes when there were none, and must be told of new ones.
    private var isDeferred = false
    private var isContinueDue = false
    private var isHead = false
    private var bodyIsComplete = false
    /// Bytes that were received and for which no window was given back.
    private(set) var bytesUnconsumed = 0
    /// The last moment at which the peer took a part of the answer, or the answer began.
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
        exchange.received(Array(piece))
    }

    func bodyCompleted() {
        bodyIsComplete = true
        exchange?.bodyCompleted()
    }

    /// Moves bytes of the answer to `target`; nil where there are none yet.
    func fill(_ target: UnsafeMutableRawBufferPointer) -> (count: Int, isEnd: Bool)? {
        if output.isEmpty, !isOutputComplete {
            isDeferred = true
            return nil
        }
        let count = output.move(to: target)
        home.memory.releaseAnswer(isShared ? 0 : count)
        noteTaken(count)
        exchange?.answerProgressed()
        return (count, isOutputComplete && output.isEmpty)
    }

    /// Progress is so many bytes, or all there are: a byte now and then is none.
    private func noteTaken(_ count: Int) {
        takenBytes += count
        guard output.isEmpty || takenBytes >= home.bytesTakenMin else { return }
        takenBytes = 0
        progressAt = home.now
    }

    /// The stream is closed. Whoever has the whole request and has given the whole answer need not
    /// care.
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
        // No informational answer follows the final one (RFC 9113, 8.1): it goes before.
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
