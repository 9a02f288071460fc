import TomboloLoop

/// One request and its answer, for both HTTP/1.1 and HTTP/2. On the loop only.
///
/// The handler asks for the body in pieces. A peer that sends faster must wait: its flow-control
/// window stays closed, or its socket is not read. The answer is either whole (`respond`) or a
/// stream (`begin`, `write` …, `finish`); `write` waits for a slow peer.
package final class HTTPExchange: @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    private enum Answer { case none, streaming, finished }

    package let head: HTTPRequestHead
    package let connection: HTTPServerConnection
    private let loop: any Loop
    private let limits: HTTPServerLimits
    private let wire: any HTTPExchangeWire

    private var body = HTTPBodyQueue()
    private var rate: HTTPBodyRate
    /// Bytes that `body(atMost:)` has collected. They count as held until the handler returns.
    private var bodyGathered = 0
    /// The body's length from the head; nil if the head does not give it.
    private let bodyLength: Int?
    /// True if the request may have a body.
    package var hasBody: Bool { bodyLength != 0 }
    private var failure: HTTPExchangeError?

    private var answer = Answer.none
    private var kept: [UInt8] = []
    private var unreadBefore = 0
    /// When the peer last took a part of the answer or, beside the answer, sent a part of the body.
    private var progressAt: MonotonicInstant

    private var reader: Parking?
    private var writer: Parking?
    private var watchers: [Parking] = []

    /// True if the peer has reset the request or closed its side of the connection. An HTTP/1.1
    /// peer may close only its sending side and still read; then `write` goes on.
    package private(set) var isPeerGone = false
    private var isLost = false

    init(
        head: HTTPRequestHead, bodyLength: Int?, connection: HTTPServerConnection,
        loop: any Loop, limits: HTTPServerLimits, wire: any HTTPExchangeWire
    ) {
        self.head = head
        self.bodyLength = bodyLength
        self.connection = connection
        self.loop = loop
        self.limits = limits
        self.wire = wire
        rate = HTTPBodyRate(limits)
        progressAt = loop.now
    }

    // MARK: The request's body

    /// The next piece of the body, never empty; nil at its end. The boundaries between pieces have
    /// no meaning. Throws `.peerGone`, `.bodyTooSlow`, `.bodyMalformed` or `.cancelled`, and throws
    /// the same error on later calls.
    package func nextPiece() async throws(HTTPExchangeError) -> [UInt8]? {
        loop.checkIsolated()
        while true {
            if let piece = body.takePiece() {
                wire.memory?.releaseBody(piece.count)
                wire.took(piece.count)
                return piece
            }
            if body.isComplete { return nil }
            if let failure { throw failure }
            wire.wantsBody()
            guard body.isEmpty, !body.isComplete, failure == nil else { continue }
            try await waitForBody()
        }
    }

    private func waitForBody() async throws(HTTPExchangeError) {
        let place = reader ?? Parking(loop)
        reader = place
        let start = loop.now
        defer { rate.waited(loop.now - start) }
        while true {
            switch await place.park(until: bodyDeadline(start)) {
            case .signal: return
            case .cancelled: throw .cancelled
            case .deadline:
                guard body.isEmpty, !body.isComplete, failure == nil else { return }
                guard loop.now >= bodyDeadline(start) else { continue }
                failure = .bodyTooSlow
                return
            }
        }
    }

    /// Until when a wait for the body that began at `start` may last. Beside a streaming answer
    /// both directions share the deadline of `write`: a proxy may stop the one for the other.
    private func bodyDeadline(_ start: MonotonicInstant) -> MonotonicInstant {
        answer == .streaming
            ? max(start, progressAt) + limits.writeStall : start + rate.patience
    }

    /// The whole body, of at most `most` bytes. Throws `.bodyTooLarge` if it is longer; if the head
    /// gives the length, this happens before anything is read. Also throws the errors of
    /// `nextPiece`.
    package func body(atMost most: Int) async throws(HTTPExchangeError) -> [UInt8] {
        loop.checkIsolated()
        if let bodyLength, bodyLength > most { throw fail(.bodyTooLarge) }
        var whole: [UInt8] = []
        while let piece = try await nextPiece() {
            guard whole.count + piece.count <= most else { throw fail(.bodyTooLarge) }
            if whole.isEmpty { whole = piece } else { whole += piece }
            bodyGathered += piece.count
            wire.memory?.holdBody(piece.count)
            if isLost { throw fail(.peerGone) }
        }
        return whole
    }

    private func fail(_ error: HTTPExchangeError) -> HTTPExchangeError {
        if failure == nil { failure = error }
        return error
    }

    // MARK: The answer

    /// True if an answer of this many bytes would be accepted. Ask this before you make a large
    /// answer: if the peer has too much unread on the connection, a 429 is sent instead.
    package func hasRoom(for bytes: Int) -> Bool {
        let unread = wire.memory?.unreadBytes ?? 0
        return unread == 0 || unread + bytes <= limits.unreadBytesPerConnection
    }

    /// Sends a whole answer. It is buffered, so the call does not wait. `fields` need no
    /// `content-length`. If a streaming answer has begun, the call resets it instead.
    ///
    /// - Parameter isShared: true if `body` is a constant that many answers share, which does not
    ///   count as memory. Any other body is replaced by a 429 if the peer has too much unread.
    package func respond(
        _ status: Int, _ fields: HTTPFields, _ body: [UInt8], isShared: Bool = false
    ) {
        loop.checkIsolated()
        switch answer {
        case .none:
            answer = .finished
            guard isShared || hasRoom(for: body.count) else {
                let problem = HTTPServerProblem.tooMuchUnread
                return wire.respond(
                    problem.status, problem.fields, problem.body, isShared: true)
            }
            wire.respond(status, fields, body, isShared: isShared)
        case .streaming: reset(code: Self.internalError)
        case .finished: break
        }
    }

    /// Keeps a first part of the answer without sending it, because a proxy may stop forwarding the
    /// request's body once an answer has begun. The part counts as unread. Returns false and keeps
    /// nothing if the connection or the server already keeps too much. In this case, begin the
    /// answer and write `takeKept()` first.
    package func keep(_ piece: [UInt8]) -> Bool {
        loop.checkIsolated()
        guard answer == .none, !isLost, let memory = wire.memory,
            memory.unreadBytes + piece.count <= limits.unreadBytesPerConnection,
            memory.keep(piece.count, atMost: limits.keptBytesMax)
        else { return false }
        kept += piece
        return true
    }

    /// Returns the kept parts and releases them.
    package func takeKept() -> [UInt8] {
        loop.checkIsolated()
        wire.memory?.releaseKept(kept.count)
        defer { kept = [] }
        return kept
    }

    /// Begins a streaming answer (chunked in HTTP/1.1). The head is sent at once. Has no effect if
    /// an answer has begun.
    package func begin(_ status: Int, _ fields: HTTPFields) {
        loop.checkIsolated()
        guard answer == .none else { return }
        answer = .streaming
        progressAt = loop.now
        wire.begin(status, fields)
    }

    /// Sends a part of the body. Returns at once while less than `unreadAnswerBytesMax` is unread;
    /// otherwise waits. Throws `.peerStalled` (and gives up the answer) after `writeStall` without
    /// progress (a part of the body that comes is progress too), `.peerGone`, or `.cancelled`. Has
    /// no effect before `begin` and after `finish`.
    package func write(_ piece: [UInt8]) async throws(HTTPExchangeError) {
        loop.checkIsolated()
        if isLost { throw .peerGone }
        guard answer == .streaming else { return }
        if wire.unreadBytes == 0 { progressAt = loop.now }
        wire.write(piece)
        unreadBefore = wire.unreadBytes
        while wire.unreadBytes >= limits.unreadAnswerBytesMax {
            let place = writer ?? Parking(loop)
            writer = place
            switch await place.park(until: progressAt + limits.writeStall) {
            case .signal: break
            case .cancelled: throw .cancelled
            case .deadline:
                guard loop.now >= progressAt + limits.writeStall else { break }
                reset(code: Self.cancel)
                throw .peerStalled
            }
            if isLost { throw .peerGone }
        }
    }

    /// Ends a streaming answer. Unread bytes are still delivered.
    package func finish() {
        loop.checkIsolated()
        guard answer == .streaming else { return }
        answer = .finished
        wire.finish()
    }

    /// Gives up the request: sends RST_STREAM with `code` (RFC 9113, 7) in HTTP/2, or closes the
    /// connection in HTTP/1.1.
    package func reset(code: UInt32) {
        loop.checkIsolated()
        guard !isLost else { return }
        answer = .finished
        wire.reset(code: code)
    }

    static let internalError: UInt32 = 2
    static let cancel: UInt32 = 8

    // MARK: The peer

    /// Returns once the peer is gone (`isPeerGone`) or the task is cancelled.
    package func waitUntilPeerGone() async {
        loop.checkIsolated()
        guard !isPeerGone else { return }
        let place = Parking(loop)
        watchers.append(place)
        while !isPeerGone, await place.park() == .signal {}
        watchers.removeAll { $0 === place }
    }

    // MARK: For the server

    var isAnswered: Bool { answer != .none }

    /// Bytes of the body that wait for the handler.
    var bodyBytesHeld: Int { body.bytesHeld }

    /// Runs the handler to its end, and ensures that there is an answer.
    package func run(_ handler: any HTTPHandler) async {
        await handler.handle(self)
        handlerReturned()
    }

    func handlerReturned() {
        switch answer {
        case .none:
            let problem = (failure ?? (Task.isCancelled ? .cancelled : .peerGone)).problem
            respond(problem.status, problem.fields, problem.body)
        case .streaming: reset(code: Self.internalError)
        case .finished: break
        }
        let waiting = body.discard()
        _ = takeKept()
        wire.memory?.releaseBody(waiting + bodyGathered)
        bodyGathered = 0
        wire.took(waiting)
        wire.handlerReturned()
    }

    func received(_ piece: [UInt8]) {
        rate.received(piece.count)
        if answer == .streaming { progressAt = loop.now }
        body.append(piece)
        wire.memory?.holdBody(piece.count)
        reader?.unpark()
    }

    func bodyCompleted() {
        body.complete()
        reader?.unpark()
    }

    func bodyFailed(_ refusal: HTTP1Refusal) {
        if failure == nil { failure = .bodyMalformed(refusal) }
        reader?.unpark()
    }

    /// The peer has taken a part of the answer.
    func answerProgressed() {
        let unread = wire.unreadBytes
        guard unread < unreadBefore || unread == 0 else { return }
        unreadBefore = unread
        progressAt = loop.now
        // Wake the writer at half the limit rather than at each record, to wake it less often.
        if unread < limits.unreadAnswerBytesMax / 2 { writer?.unpark() }
    }

    /// The peer sends no more bytes, but may still read.
    func peerClosedItsSide() {
        guard !isPeerGone else { return }
        isPeerGone = true
        for watcher in watchers { watcher.unpark() }
    }

    /// The peer sends no more bytes and the body is incomplete. The peer may still read.
    func bodyBrokeOff() {
        if failure == nil { failure = .peerGone }
        peerClosedItsSide()
        reader?.unpark()
    }

    /// The request or its connection is lost: nothing can be read or written.
    func lost() {
        guard !isLost else { return }
        isLost = true
        if failure == nil { failure = .peerGone }
        peerClosedItsSide()
        reader?.unpark()
        writer?.unpark()
    }
}
