import CNghttp2
package import TomboloLoop

/// How a connection stands.
package enum HTTP2ClientState: Hashable, Sendable {
    case open
    /// It takes no more requests; those that are open may still be answered. nil: this side drains
    /// it.
    case draining(HTTP2GoAway?)
    case closed(HTTP2Failure)
}

/// Who wants to hear of a connection's changes.
package protocol HTTP2ClientObserver: AnyObject {
    /// On the loop: the state is another one, or `capacity` rose from 0, or the peer's limit
    /// changed.
    func clientChanged(_ client: HTTP2Client)
}

/// One HTTP/2 connection in the client's role (RFC 9113). On the loop only.
///
/// Obeys the peer's MAX_CONCURRENT_STREAMS at all times, sends no priorities, takes no pushes. Each
/// request ends in exactly one `HTTP2Outcome`. A peer that is silent while requests are open is
/// asked by PING, and counts as lost when it does not answer. There is no reconnecting here: when
/// it is closed, make another.
package final class HTTP2Client: ByteStreamOwner, TimerTarget, TurnTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only; `loop.checkIsolated()` guards its face.

    package let limits: HTTP2ClientLimits
    /// Held until the connection is closed and that was told.
    package var observer: (any HTTP2ClientObserver)?
    package private(set) var state = HTTP2ClientState.open {
        didSet { isOpen = state == .open }
    }
    /// Looked at for every request.
    private var isOpen = true

    let loop: any Loop
    private let stream: any ByteStream
    let session: HTTP2ClientSession

    /// Who is told what became of requests from templates.
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

    /// Takes over an open byte stream: the caller makes this its owner.
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

    // MARK: Face

    /// Requests that may be submitted now: what the peer (and this side) allows less what is open;
    /// 0 once a GOAWAY came, or it is draining or closed.
    package var capacity: Int { isOpen ? session.capacity : 0 }

    /// Requests that were submitted and are not settled with the peer yet.
    package var openCount: Int { session.openCount }

    /// What the kernel took of the output, before TLS.
    package var sentBytes: UInt64 { stream.sentBytes }

    /// The peer in words: address and port.
    package var peerDescription: String { stream.peerDescription }

    /// Whether the peer's SETTINGS have come.
    var hasSettings: Bool { session.hasSettings }

    /// Sends a request: the hot path, without a task or a closure. `receiver` is held and told
    /// exactly once. `timeout` counts from now, to the next `limits.tick`; nil:
    /// `limits.requestTimeout`.
    package func submit(
        _ request: borrowing HTTP2Request, timeout: Duration? = nil,
        to receiver: any HTTP2AnswerReceiver, tag: UInt64
    ) {
        loop.checkIsolated()
        _ = start(request, timeout: timeout, receiver: receiver, tag: tag)
    }

    /// The same for the next request of `template`, which must be answered before `deadline`: for a
    /// sender of many. All templates of one connection have one receiver, which it holds until it
    /// is closed.
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

    /// Takes no more requests and closes when those that are open are settled.
    package func drain() {
        loop.checkIsolated()
        guard case .open = state else { return }
        session.drain()
        state = .draining(nil)
        settle()
    }

    /// Closes now, with GOAWAY: what is open is unknown, what was not written is not processed.
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
        // Without a receiver the caller is told by what this answers.
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
        // It fails only where the stream is closed, and then its window is of no interest.
        nghttp2_session_consume_stream(session.session, streamID, count)
        stream.wantsOutput()
    }

    func resumeUpload(_ streamID: Int32) {
        guard !isClosed else { return }
        // It fails where the body is not deferred: then it is asked for anyway.
        nghttp2_session_resume_data(session.session, streamID)
        stream.wantsOutput()
    }

    /// Waits until a request may be submitted. False: never again, or the deadline came first.
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

    package func received(_ bytes: UnsafeRawBufferPointer) {
        lastHeard = loop.now
        // Whatever comes shows that the peer is there.
        if pingedAt != nil {
            pingedAt = nil
            armTimer()
        }
        if let failure = session.receive(bytes) { return fail(failure) }
        // Answers, acknowledgements and window updates, if there are any.
        if nghttp2_session_want_write(session.session) != 0 { stream.wantsOutput() }
        settle()
    }

    package func fillOutput(_ output: OutputBuffer) {
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
        // A GOAWAY that came before says why.
        case .connectionLost, .closedHere:
            if let goAway = session.goAway { told = .goneAway(goAway) }
        default: break
        }
        state = .closed(told)
        loop.cancel(timer)
        session.end(told, sentBytes: stream.sentBytes)
        deliverAtEndOfTurn()
    }

    /// After everything that may have changed something.
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

    // MARK: Telling

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

    /// What nearly all are, without an outcome of its own for each.
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
