import TomboloLoop

/// HTTP/1.1 for a server: one request after the other. Pipelined requests wait in the parser.
final class HTTP1ServerSession: HTTPServerSession {
    private enum Phase {
        /// Waits for a head.
        case head
        /// The handler runs, or its answer is being sent.
        case exchange(HTTP1ServerExchange)
        /// The answer is complete. Skips the rest of a short body, at the latest until this time.
        case skipping(until: MonotonicInstant)
        case finished
    }

    /// If this many bytes of a body wait for the handler, reading from the socket pauses.
    private static let bodyBytesHeldMax = 64 * 1024
    /// If this many bytes of answers are unread, the next pipelined request waits.
    private static let outputBeforeHeadMax = 64 * 1024

    private unowned let owner: any HTTPServerSessionOwner
    let memory: HTTPConnectionMemory?
    private var parser = HTTP1RequestParser()
    private var phase = Phase.head
    private var output = HTTPByteQueue()
    /// When the connection last became idle or received bytes while idle.
    private var idleSince: MonotonicInstant
    private var headSince: MonotonicInstant?
    private var isDraining = false
    private var isInputAtEnd = false

    init(owner: any HTTPServerSessionOwner) {
        self.owner = owner
        memory = owner.memory
        idleSince = owner.loop.now
    }

    private var now: MonotonicInstant { owner.loop.now }

    // MARK: Bytes in

    func receive(_ bytes: UnsafeRawBufferPointer) {
        if case .finished = phase { return }
        parser.append(bytes)
        advance()
    }

    func receivedEnd() {
        isInputAtEnd = true
        switch phase {
        case .head, .skipping: finishConnection()
        case .exchange(let current):
            if current.isBodyComplete {
                current.exchange.peerClosedItsSide()
            } else {
                current.exchange.bodyBrokeOff()
            }
        case .finished: break
        }
    }

    var wantsBytes: Bool {
        guard !isInputAtEnd else { return false }
        switch phase {
        case .head: return output.count < Self.outputBeforeHeadMax
        case .skipping: return true
        case .exchange(let current):
            // After a complete request, read at most about one more pipelined head.
            return current.isBodyComplete
                ? parser.bytesHeld < HTTP1RequestParser.headBytesMax
                : !current.isBodyRefused
                    && current.exchange.bodyBytesHeld < Self.bodyBytesHeldMax
        case .finished: return false
        }
    }

    /// Takes all events from the parser that the current phase can use.
    private func advance() {
        while true {
            switch phase {
            case .head:
                guard takeHead() else { return }
            case .exchange(let current):
                guard !current.isBodyComplete, takeBody(current) else { return }
            case .skipping:
                guard skipBody() else { return }
            case .finished:
                return
            }
        }
    }

    private func takeHead() -> Bool {
        guard output.count < Self.outputBeforeHeadMax else { return false }
        switch parser.next() {
        case .head(let request)?:
            headSince = nil
            begin(request)
            return true
        case .refused(let refusal)?:
            answerProblem(HTTPServerProblem(refusal))
            return false
        case nil:
            if headSince == nil, !parser.isBetweenRequests { headSince = now }
            if isDraining || isInputAtEnd { finishConnection() }
            return false
        case .body?, .end?: preconditionFailure("a body without its head")
        }
    }

    private func begin(_ request: HTTP1Request) {
        let length: Int? =
            switch request.body {
            case .none: 0
            case .length(let count): count
            case .chunked: nil
            }
        let exchange = owner.opened(
            HTTPServerRequest(
                method: request.method, target: request.target, authority: request.authority,
                fields: request.fields, version: request.version, bodyLength: length), over: self)
        phase = .exchange(HTTP1ServerExchange(request: request, exchange: exchange))
    }

    /// Takes one event of the body. Returns true if more events may follow in this phase.
    private func takeBody(_ current: HTTP1ServerExchange) -> Bool {
        guard current.exchange.bodyBytesHeld < Self.bodyBytesHeldMax else { return false }
        switch parser.next() {
        case .body(let piece)?:
            current.exchange.received(piece)
            return true
        case .end?:
            change { $0.isBodyComplete = true }
            current.exchange.bodyCompleted()
            return false
        case .refused(let refusal)?:
            change { $0.isBodyRefused = true }
            current.exchange.bodyFailed(refusal)
            // Reset a streaming answer: it might never end, and the connection reads no more bytes.
            if current.writer != nil, !current.isAnswerDone { reset(code: 0) }
            return false
        case nil: return false
        case .head?: preconditionFailure("a head within a body")
        }
    }

    private func skipBody() -> Bool {
        switch parser.next() {
        case .body?: return true
        case .end?:
            nextRequest()
            return true
        case .refused?:
            finishConnection()
            return false
        case nil: return false
        case .head?: preconditionFailure("a head within a body")
        }
    }

    private func change(_ body: (inout HTTP1ServerExchange) -> Void) {
        guard case .exchange(var current) = phase else { return }
        body(&current)
        phase = .exchange(current)
    }

    // MARK: Between two requests

    private func nextRequest() {
        phase = .head
        idleSince = now
        headSince = nil
        owner.sessionWantsBytes()
    }

    /// If the answer is complete and the handler has returned, starts the next request or closes.
    private func concludeIfDone() {
        guard case .exchange(let current) = phase, current.isAnswerDone, current.isHandlerDone
        else {
            return
        }
        if current.writer?.closes ?? true {
            finishConnection()
        } else if current.isBodyComplete {
            nextRequest()
        } else {
            phase = .skipping(until: now + owner.limits.headTime)
            owner.sessionWantsBytes()
        }
        advance()
    }

    private func finishConnection() {
        phase = .finished
        owner.sessionHasOutput()
    }

    /// Sends the server's own answer to bad input, then closes the connection.
    private func answerProblem(_ problem: HTTPServerProblem) {
        let body = problem.body
        let writer = HTTP1ResponseWriter(
            status: problem.status, method: "", version: .http1_1, length: body.count,
            keepsAlive: false)
        var bytes: [UInt8] = []
        writer.appendHead(
            status: problem.status, fields: owner.dated(problem.fields), version: .http1_1,
            to: &bytes)
        writer.appendPiece(body, to: &bytes)
        send(bytes)
        finishConnection()
    }

    // MARK: Bytes out

    func produce(into output: OutputBuffer) {
        let before = self.output.count
        self.output.move(to: output)
        memory?.releaseAnswer(before - self.output.count)
    }

    /// Queues bytes of an answer.
    private func send(_ bytes: [UInt8]) {
        output.append(bytes)
        memory?.holdAnswer(bytes.count)
    }

    func outputProgressed() {
        switch phase {
        case .exchange(let current): current.exchange.answerProgressed()
        case .head: advance()
        case .skipping, .finished: break
        }
    }

    var isFinished: Bool {
        if case .finished = phase { output.isEmpty } else { false }
    }

    // MARK: Ends

    func drain() {
        isDraining = true
        if case .head = phase, parser.isBetweenRequests { finishConnection() }
    }

    func lost() {
        memory?.releaseAnswer(output.count)
        output.removeAll()
        guard case .exchange(let current) = phase else {
            phase = .finished
            return
        }
        phase = .finished
        current.exchange.lost()
    }

    var deadline: MonotonicInstant? {
        switch phase {
        case .head:
            headSince.map { $0 + owner.limits.headTime } ?? idleSince + owner.limits.idleTime
        case .skipping(let until): until
        case .exchange, .finished: nil
        }
    }

    func deadlinePassed() {
        if case .head = phase, headSince != nil {
            answerProblem(.headTooSlow)
        } else {
            finishConnection()
        }
    }

    func setMaxConcurrentStreams(_ count: Int) {}

    func goAway(code: UInt32, reason: [UInt8], lastStream: Int32?) { drain() }
}

extension HTTP1ServerSession: HTTPExchangeWire {
    var unreadBytes: Int { output.count + owner.bytesUnwritten }

    func wantsBody() {
        guard case .exchange(let current) = phase else { return }
        if current.isContinueDue, current.writer == nil {
            send(HTTP1ResponseWriter.continueLine)
            owner.sessionHasOutput()
        }
        change { $0.isContinueDue = false }
        advance()
        owner.sessionWantsBytes()
    }

    func took(_ byteCount: Int) {
        if byteCount > 0 { owner.sessionWantsBytes() }
    }

    /// True if another request may follow.
    private var canLive: Bool { !isDraining && !isInputAtEnd }

    func respond(_ status: Int, _ fields: HTTPFields, _ body: [UInt8], isShared: Bool) {
        guard case .exchange(let current) = phase else { return }
        let writer = current.writer(
            status: status, length: body.count,
            keepsAlive: canLive && current.canSkipBody(owner.limits))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512 + (isShared ? 0 : body.count))
        writer.appendHead(
            status: status, fields: owner.dated(fields), version: current.request.version,
            to: &bytes)
        if isShared, case .length = writer.framing {
            send(bytes)
            output.append(body)
        } else {
            writer.appendPiece(body, to: &bytes)
            send(bytes)
        }
        change {
            $0.writer = writer
            $0.isAnswerDone = true
        }
        owner.sessionHasOutput()
    }

    func begin(_ status: Int, _ fields: HTTPFields) {
        guard case .exchange(let current) = phase else { return }
        guard !current.isBodyRefused else { return reset(code: 0) }
        // The handler may still read the body while it streams the answer, so the end of the answer
        // decides whether the connection is kept. Send `100 Continue` now: the peer must not wait.
        var bytes = current.isContinueDue ? HTTP1ResponseWriter.continueLine : []
        change { $0.isContinueDue = false }
        let writer = current.writer(status: status, length: nil, keepsAlive: canLive)
        writer.appendHead(
            status: status, fields: owner.dated(fields), version: current.request.version,
            to: &bytes)
        send(bytes)
        change { $0.writer = writer }
        owner.sessionHasOutput()
    }

    func write(_ piece: [UInt8]) {
        guard case .exchange(let current) = phase, let writer = current.writer else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(piece.count + 16)
        writer.appendPiece(piece, to: &bytes)
        send(bytes)
        owner.sessionHasOutput()
    }

    func finish() {
        guard case .exchange(let current) = phase, let writer = current.writer else { return }
        var bytes: [UInt8] = []
        writer.appendEnd(to: &bytes)
        send(bytes)
        change { $0.isAnswerDone = true }
        owner.sessionHasOutput()
    }

    func reset(code: UInt32) {
        guard case .exchange = phase else { return }
        lost()
        owner.sessionHasOutput()
    }

    func handlerReturned() {
        change { $0.isHandlerDone = true }
        // The unread body cannot be skipped, and would be read as the next request: close.
        if case .exchange(let current) = phase, !current.canSkipBody(owner.limits) {
            finishConnection()
            return
        }
        concludeIfDone()
    }
}
