import CNghttp2
package import TomboloLoop

/// State of a connection.
package enum HTTP2ClientState: Hashable, Sendable {
    case open
    /// No new requests are accepted; open requests may still be answered. The value is nil if this
    /// side started the drain.
    case draining(HTTP2GoAway?)
    case closed(HTTP2Failure)
}

/// Gets notified of changes of a connection.
package protocol HTTP2ClientObserver: AnyObject {
    /// Called on the loop when the state changed, when `capacity` rose from 0, or when the peer's
    /// limit of streams changed.
    func clientChanged(_ client: HTTP2Client)
}

/// One HTTP/2 connection in the client's role (RFC 9113). On the loop only.
///
/// Obeys the peer's MAX_CONCURRENT_STREAMS at all times, sends no priorities, and disables server
/// push. Each request ends in exactly one `HTTP2Outcome`. A peer that is silent while requests are
/// open is probed by PING, and counts as lost if it does not answer. The client never reconnects:
/// make a new one after it has closed.
package final class HTTP2Client: ByteStreamOwner, TimerTarget, TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` enforces it.

    package let limits: HTTP2ClientLimits
    /// Retained until it has been notified that the connection is closed.
    package var observer: (any HTTP2ClientObserver)?
    package private(set) var state = HTTP2ClientState.open {
        didSet { isOpen = state == .open }
    }
    /// Asked before each write; while it is false, not one byte goes to the socket, and requests
    /// stay unsent. Nil means always. After it has become true, call `resumeWriting()`.
    package var writeGate: (@Sendable () -> Bool)?
    /// True if `state` is `.open`. Cached because every request checks it.
    private var isOpen = true

    let loop: any Loop
    private let stream: any ByteStream
    let session: HTTP2ClientSession

    /// Receiver of the outcomes of all requests from templates.
    private var sender: (any HTTP2AnswerReceiver)?
    private var batch: [HTTP2ClientSession.Finished] = []
    private var acceptedBatch: [UInt64] = []
    private var isDelivering = false
    private var isAtEndOfTurn = false
    private var capacityWaiters: [Parking] = []
    private var toldCapacity = 0
    private var toldLimit = 0
    private var toldState = HTTP2ClientState.open
    private var toldSettings = false

    private var timer = TimerID()
    private var nextTick = MonotonicInstant.distantFuture
    private var lastHeard: MonotonicInstant
    private var pingedAt: MonotonicInstant?

    /// Takes over an open byte stream. The caller must make this client its owner.
    init(_ stream: any ByteStream, limits: HTTP2ClientLimits, loop: any Loop) {
        self.stream = stream
        self.limits = limits
        self.loop = loop
        session = HTTP2ClientSession(limits: limits)
        lastHeard = loop.now
        toldCapacity = session.capacity
    }

    func begin() {
        stream.wantsOutput()
        armTimer()
    }

    // MARK: API

    /// Number of requests that may be submitted now: the lower of both sides' limits, minus the
    /// open requests. 0 after a GOAWAY, while draining, and when closed.
    package var capacity: Int { isOpen ? session.capacity : 0 }

    /// Submitted requests that are not settled yet.
    package var openCount: Int { session.openCount }

    /// Bytes of output that the kernel has accepted, counted before encryption.
    package var sentBytes: UInt64 { stream.sentBytes }

    /// Address and port of the peer, as text.
    package var peerDescription: String { stream.peerDescription }

    /// True once the peer's first SETTINGS have arrived.
    var hasSettings: Bool { session.hasSettings }

    /// Sends a request without a task or a closure. Retains `receiver` and calls it exactly once.
    /// `timeout` counts from now and is rounded up to the next `limits.tick`; nil means
    /// `limits.requestTimeout`.
    package func submit(
        _ request: borrowing HTTP2Request, timeout: Duration? = nil,
        to receiver: any HTTP2AnswerReceiver, tag: UInt64
    ) {
        loop.checkIsolated()
        _ = start(request, timeout: timeout, receiver: receiver, tag: tag)
    }

    /// Hot path: sends the next request of `template`, which must be answered before `deadline`.
    /// All templates of a connection share one receiver, retained until the connection closes.
    package func submit(
        _ template: HTTP2RequestTemplate, body: [UInt8], before deadline: MonotonicInstant,
        to receiver: any HTTP2AnswerReceiver, tag: UInt64
    ) {
        loop.checkIsolated()
        if sender == nil { sender = receiver }
        precondition(sender === receiver, "one receiver for all templates of a connection")
        let failure: HTTP2Failure?
        if !isOpen, case .closed(let closed) = state {
            failure = closed
        } else {
            failure = session.submit(
                template, body: body, deadline: deadline.nanoseconds, tag: tag)
        }
        submitted(refused: failure, nil, tag)
    }

    /// Accepts no more requests, and closes once all open requests are settled.
    package func drain() {
        loop.checkIsolated()
        guard case .open = state else { return }
        session.drain()
        state = .draining(nil)
        settle()
    }

    /// Sends GOAWAY and closes now. Written requests end as `unknown`, others as `notProcessed`.
    package func close() {
        loop.checkIsolated()
        guard !isClosed else { return }
        session.terminate()
        stream.wantsOutput()
        stream.close()
        end(.closedHere)
    }

    // MARK: Requests

    func start(
        _ request: borrowing HTTP2Request, timeout: Duration?,
        receiver: (any HTTP2AnswerReceiver)?, tag: UInt64, stream: HTTP2ResponseStream? = nil
    ) -> Result<Int32, HTTP2Failure> {
        let result: Result<Int32, HTTP2Failure>
        if case .closed(let failure) = state {
            result = .failure(failure)
        } else {
            let deadline = (loop.now + (timeout ?? limits.requestTimeout)).nanoseconds
            result = session.submit(
                request, deadline: deadline, receiver: receiver, tag: tag, stream: stream)
        }
        switch result {
        case .success: submitted(refused: nil, receiver, tag)
        // Without a receiver, the caller learns the failure from the return value.
        case .failure(let failure): if let receiver { submitted(refused: failure, receiver, tag) }
        }
        return result
    }

    private func submitted(
        refused: HTTP2Failure?, _ receiver: (any HTTP2AnswerReceiver)?, _ tag: UInt64
    ) {
        guard let refused else {
            stream.wantsOutput()
            if session.openCount == 1 { armTimer() }
            return
        }
        session.refuse(receiver, tag, refused)
        deliverAtEndOfTurn()
    }

    func cancel(_ streamID: Int32) {
        loop.checkIsolated()
        guard let slot = session.slab.find(streamID) else { return }
        session.abandon(slot, .closedHere)
        stream.wantsOutput()
        deliver()
    }

    func consumed(_ streamID: Int32, _ count: Int) {
        guard !isClosed else { return }
        // The call fails only if the stream is closed; then the stream's window does not matter.
        nghttp2_session_consume_stream(session.session, streamID, count)
        stream.wantsOutput()
    }

    func resumeUpload(_ streamID: Int32) {
        guard !isClosed else { return }
        // The call fails if nghttp2 does not wait for the body; then nghttp2 asks for it anyway.
        nghttp2_session_resume_data(session.session, streamID)
        stream.wantsOutput()
    }

    /// Waits until a request may be submitted. Returns false if the connection takes no more
    /// requests or the deadline has passed.
    func waitForCapacity(until deadline: MonotonicInstant) async -> Bool {
        while capacity == 0 {
            guard case .open = state else { return false }
            let place = Parking(loop)
            capacityWaiters.append(place)
            let wake = await place.park(until: deadline)
            capacityWaiters.removeAll { $0 === place }
            guard wake == .signal else { return false }
        }
        return true
    }

    // MARK: The stream's owner

    package func opened() {}

    package var mayWrite: Bool { writeGate.map { $0() } ?? true }

    /// Writes what `writeGate` held back.
    package func resumeWriting() {
        loop.checkIsolated()
        if !isClosed { stream.wantsOutput() }
    }

    package func received(_ bytes: UnsafeRawBufferPointer) {
        lastHeard = loop.now
        // Any bytes prove that the peer is alive.
        if pingedAt != nil {
            pingedAt = nil
            armTimer()
        }
        if let failure = session.receive(bytes) { return fail(failure) }
        // Write nghttp2's own frames (acknowledgements, window updates) if there are any.
        if nghttp2_session_want_write(session.session) != 0 { stream.wantsOutput() }
        settle()
    }

    package func fillOutput(_ output: OutputBuffer) {
        guard mayWrite else { return }
        if let failure = session.fill(output) { return fail(failure) }
        settle()
    }

    package func inputEnded() {
        fail(
            .connectionLost(
                ConnectionError(.reset, "\(stream.peerDescription) ended the connection")))
    }

    package func closed(_ error: ConnectionError?) {
        end(error.map { .connectionLost($0) } ?? .closedHere)
    }

    // MARK: Ends

    private var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    private func fail(_ failure: HTTP2Failure) {
        guard !isClosed else { return }
        stream.abort()
        end(failure)
    }

    private func end(_ failure: HTTP2Failure) {
        guard !isClosed else { return }
        var told = failure
        switch failure {
        // An earlier GOAWAY gives the better reason.
        case .connectionLost, .closedHere:
            if let goAway = session.goAway { told = .goneAway(goAway) }
        default: break
        }
        state = .closed(told)
        loop.cancel(timer)
        session.end(told, sentBytes: stream.sentBytes)
        deliverAtEndOfTurn()
    }

    /// Updates the state. Call it after every step that may change the session.
    private func settle() {
        guard !isClosed else { return }
        if let goAway = session.goAway { state = .draining(goAway) }
        if !isOpen, session.openCount == 0 {
            session.terminate()
            stream.wantsOutput()
            stream.close()
            return end(.closedHere)
        }
        if session.isOver {
            stream.close()
            return end(.protocolViolation(session.complaint))
        }
        deliver()
    }

    // MARK: Delivery

    private func deliverAtEndOfTurn() {
        guard !isAtEndOfTurn else { return }
        isAtEndOfTurn = true
        loop.atEndOfTurn(self)
    }

    package func turnEnded() {
        isAtEndOfTurn = false
        deliver()
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        deliverAccepted()
        session.takeFinished(into: &batch)
        while !batch.isEmpty {
            let sender = sender
            for finished in batch {
                (finished.receiver ?? sender)?.answered(finished.tag, finished.outcome)
            }
            batch.removeAll(keepingCapacity: true)
            deliverAccepted()
            session.takeFinished(into: &batch)
        }
        isDelivering = false
        tellChange()
    }

    /// Fast path for 200s: one call for all of them.
    private func deliverAccepted() {
        session.takeAccepted(into: &acceptedBatch)
        guard !acceptedBatch.isEmpty, let sender else { return }
        sender.accepted(acceptedBatch)
        acceptedBatch.removeAll(keepingCapacity: true)
    }

    private func tellChange() {
        let capacity = capacity
        let limit = session.streamLimit
        let hasChanged =
            (toldCapacity == 0 && capacity > 0) || toldLimit != limit || toldState != state
            || toldSettings != hasSettings
        toldCapacity = capacity
        guard hasChanged else { return }
        toldLimit = limit
        toldSettings = hasSettings
        toldState = state
        for place in capacityWaiters { place.unpark() }
        observer?.clientChanged(self)
        if isClosed {
            sender = nil
            observer = nil
        }
    }

    // MARK: Time

    private func armTimer() {
        let tick =
            session.openCount > 0
            ? loop.now + limits.tick
            : (pingedAt.map { $0 + limits.pingTimeout } ?? lastHeard + limits.pingWhenIdle)
        guard tick != nextTick else { return }
        loop.cancel(timer)
        nextTick = tick
        timer = loop.schedule(at: tick, self)
    }

    package func timerFired() {
        nextTick = .distantFuture
        guard !isClosed else { return }
        let now = loop.now
        session.abandonLate(now: now.nanoseconds)
        if let pingedAt {
            if now - pingedAt >= limits.pingTimeout { return fail(.unresponsive) }
        } else if now - lastHeard
            >= (session.openCount > 0 ? limits.pingAfterSilence : limits.pingWhenIdle)
        {
            pingedAt = now
            session.ping()
        }
        stream.wantsOutput()
        settle()
        if !isClosed { armTimer() }
    }
}
