import CNghttp2
import TomboloLoop

/// HTTP/2 for a server (RFC 9113), based on nghttp2's session: bytes in, bytes out.
///
/// Streams live in a slab and are reached by their address. This class controls the windows: a
/// stream's window reopens only when the handler takes bytes. So a slow handler slows only its own
/// stream, until the connection's window is full.
final class HTTP2ServerSession: HTTPServerSession {
    private unowned let owner: any HTTPServerSessionOwner
    /// Counts the memory that the streams hold. Streams may outlive the owner.
    let memory: HTTPConnectionMemory
    /// A stream makes progress if the peer has taken at least this many bytes of it.
    let bytesTakenMin: Int
    private let session: HTTP2SessionHandle
    private var streams: [HTTP2ServerStream?] = []
    private var freeSlots: [Int] = []
    private var openStreams = 0
    /// Running handlers. They can outnumber the streams when a peer abandons requests.
    private var handlersRunning = 0
    /// The largest limit of streams that was announced. The peer may not have seen a lower one yet.
    private var streamsMax: Int
    private var resets: HTTP2ResetAllowance
    private var idleSince: MonotonicInstant
    private var frames = HTTP2FrameTracker()
    private var idleFrames: HTTPAllowance
    /// Bytes sent since the peer last earned frames for them.
    private var bytesEarning = 0
    /// When the current incomplete unit of frames began; nil if there is none, or if it is DATA.
    private var frameSince: MonotonicInstant?
    private var hasFailed = false
    /// The GOAWAY frame that is still written after the session has failed.
    private var lastWords: [UInt8] = []
    private var fieldCount = HTTP2FieldCount()
    private var isDraining = false
    private var isTerminating = false
    /// When to look for stalled streams next. Not at every event: there may be many streams.
    private var stallCheckAt = MonotonicInstant.distantFuture

    init(owner: any HTTPServerSessionOwner) {
        self.owner = owner
        memory = owner.memory
        bytesTakenMin = owner.limits.streamBytesTakenMin
        session = HTTP2SessionHandle()
        streamsMax = owner.limits.streamsPerConnection
        idleSince = owner.loop.now
        resets = HTTP2ResetAllowance(owner.limits, now: owner.loop.now)
        idleFrames = HTTPAllowance(
            burst: owner.limits.idleFramesBurst, perSecond: owner.limits.idleFramesPerSecond,
            now: owner.loop.now)
        session.open(Unmanaged.passUnretained(self).toOpaque())
        session.submitSettings(owner.limits)
    }

    var now: MonotonicInstant { owner.loop.now }

    // MARK: HTTPServerSession

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !hasFailed else { return }
        if !session.receive(bytes) { hasFailed = true }
        guard !hasFailed else { return sessionHasOutput() }
        let units = frames.unitsComplete
        let idle = frames.framesIdle
        frames.receive(bytes)
        if let code = frames.violation, !isTerminating { terminate(code: code) }
        if frames.framesIdle > idle { spend(frames.framesIdle - idle) }
        if !frames.isWithinUnit {
            frameSince = nil
        } else if frameSince == nil || frames.unitsComplete != units {
            frameSince = now
        }
        sessionHasOutput()
    }

    func receivedEnd() { lost() }

    func produce(into output: OutputBuffer) {
        if !lastWords.isEmpty {
            output.append(lastWords)
            lastWords = []
        }
        while !hasFailed, !output.isFull, let bytes = session.nextOutput() {
            output.append(bytes)
            bytesEarning += bytes.count
        }
        guard bytesEarning >= Self.bytesPerFrame else { return }
        idleFrames.earn(Self.framesPerRequest * (bytesEarning / Self.bytesPerFrame))
        bytesEarning %= Self.bytesPerFrame
    }

    /// An honest peer sends WINDOW_UPDATE frames while it reads, and SETTINGS or PRIORITY with a
    /// request. So each request, and each `bytesPerFrame` bytes sent, allow it some more frames.
    private static let framesPerRequest = 4
    private static let bytesPerFrame = 16_384

    /// Counts frames without content. If there are too many, ends the connection.
    private func spend(_ count: Int) {
        guard !isTerminating, !idleFrames.take(count, now: now) else { return }
        owner.cuts.count(.frames)
        terminate(code: Self.enhanceYourCalm)
    }

    func outputProgressed() {}

    /// Stop reading from a peer that does not read: this limits the output that is queued for it.
    var wantsBytes: Bool { owner.bytesUnwritten < OutputBuffer.recordBytes }

    var isFinished: Bool { hasFailed && lastWords.isEmpty || session.isFinished }

    func drain() {
        guard !isDraining else { return }
        isDraining = true
        // First send a shutdown notice, and the final GOAWAY after one round trip. Requests that
        // are already on their way are still accepted (RFC 9113, 6.8).
        session.submitShutdownNotice()
        sessionHasOutput()
    }

    func lost() {
        hasFailed = true
        for stream in streams { stream?.closed() }
        streams = []
        openStreams = 0
        session.close()
    }

    var deadline: MonotonicInstant? {
        guard !hasFailed, !isTerminating else { return nil }
        var earliest = frameSince.map { $0 + owner.limits.headTime }
        if openStreams == 0 {
            earliest = min(earliest ?? .distantFuture, idleSince + owner.limits.idleTime)
        }
        return min(earliest ?? .distantFuture, stallCheckAt)
    }

    func deadlinePassed() {
        if let frameSince, frameSince + owner.limits.headTime <= now {
            hasFailed = true
        } else if openStreams == 0, idleSince + owner.limits.idleTime <= now {
            terminate(code: 0)
        }
        if stallCheckAt <= now { resetStalledStreams() }
        sessionHasOutput()
    }

    /// Sends GOAWAY, and ends every stream and the connection.
    private func terminate(code: UInt32) {
        isTerminating = true
        session.terminate(code: code)
    }

    private func resetStalledStreams() {
        let stall = owner.limits.writeStall
        stallCheckAt = openStreams == 0 ? .distantFuture : now + stall
        for case let stream? in streams where stream.isWaitingForPeer {
            if stream.progressAt + stall <= now {
                reset(stream, code: HTTPExchange.cancel)
            } else {
                stallCheckAt = min(stallCheckAt, stream.progressAt + stall)
            }
        }
    }

    func setMaxConcurrentStreams(_ count: Int) {
        streamsMax = max(streamsMax, count)
        session.submitMaxConcurrentStreams(count)
        sessionHasOutput()
    }

    func goAway(code: UInt32, reason: [UInt8], lastStream: Int32?) {
        session.submitGoAway(code: code, reason: reason, lastStream: lastStream)
        sessionHasOutput()
    }

    private func sessionHasOutput() { owner.sessionHasOutput() }

    // MARK: From streams

    func submitContinue(_ stream: HTTP2ServerStream) {
        var block = HTTP2FieldBlock(status: 100)
        session.submitInterim(stream.id, &block)
        sessionHasOutput()
    }

    func submitHead(_ stream: HTTP2ServerStream, _ block: HTTP2FieldBlock, hasBody: Bool) {
        var block = block
        session.submitResponse(
            stream.id, &block, bodyOf: hasBody ? Unmanaged.passUnretained(stream).toOpaque() : nil)
        sessionHasOutput()
    }

    func dated(_ fields: HTTPFields) -> HTTPFields { owner.dated(fields) }

    func handlerReturned() { handlersRunning -= 1 }

    func resume(_ stream: HTTP2ServerStream) {
        session.resume(stream.id)
        sessionHasOutput()
    }

    func consume(_ stream: HTTP2ServerStream, _ byteCount: Int) {
        session.consume(stream.id, byteCount)
        sessionHasOutput()
    }

    func reset(_ stream: HTTP2ServerStream, code: UInt32) {
        session.submitReset(stream.id, code: code)
        sessionHasOutput()
    }
}

// MARK: - Callbacks of nghttp2

extension HTTP2ServerSession {
    /// A request's head begins. Returns the stream, to which nghttp2 keeps a pointer.
    func beganRequest(_ id: Int32) -> HTTP2ServerStream {
        let slot = freeSlots.popLast() ?? streams.count
        let stream = HTTP2ServerStream(id: id, slot: slot, session: self)
        if slot == streams.count { streams.append(stream) } else { streams[slot] = stream }
        openStreams += 1
        if stallCheckAt == .distantFuture { stallCheckAt = now + owner.limits.writeStall }
        return stream
    }

    /// A head or trailers begin.
    func beganHead() { fieldCount = HTTP2FieldCount() }

    /// Counts a field of the head that is being decoded. The first field beyond the limits refuses
    /// the request. Returns false if the head is a flood; this ends the session.
    func countField(_ characters: Int, isPseudo: Bool, of request: HTTP2ServerStream?) -> Bool {
        guard !fieldCount.add(characters, isPseudo: isPseudo) else { return true }
        if let refusal = fieldCount.refusal {
            request?.head.refuse(refusal)
            return true
        }
        lastWords = HTTP2GoAwayFrame.bytes(
            code: Self.enhanceYourCalm, lastStream: session.lastStream,
            reason: "A head may have at most \(HTTP1RequestParser.fieldsMax) fields and "
                + "\(HTTP1RequestParser.headBytesMax) bytes.")
        return false
    }

    /// nghttp2 has answered a frame with RST_STREAM, for example because its stream exceeds the
    /// announced limit. This counts like a stream that the peer abandoned.
    func receivedInvalidFrame() {
        if !resets.take(now: now) { endForResets() }
    }

    private func endForResets() {
        if !isTerminating { owner.cuts.count(.resets) }
        terminate(code: Self.enhanceYourCalm)
    }

    func receivedFrame(type: UInt8, flags: UInt8, stream: HTTP2ServerStream?, isRequest: Bool) {
        if type == UInt8(NGHTTP2_PING.rawValue), flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 {
            // The PING after the shutdown notice was answered, so one round trip is over.
            if isDraining { session.submitGoAway(code: 0, reason: [], lastStream: nil) }
            return
        }
        guard let stream else { return }
        let isEnd = flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        if isRequest { begin(stream, hasBody: !isEnd) }
        if isEnd { stream.bodyCompleted() }
    }

    private func begin(_ stream: HTTP2ServerStream, hasBody: Bool) {
        guard handlersRunning < 2 * streamsMax else {
            return reset(stream, code: Self.refusedStream)
        }
        idleFrames.earn(Self.framesPerRequest)
        guard let request = stream.head.finish(hasBody: hasBody) else {
            let problem = HTTPServerProblem(stream.head.refusal ?? .badRequestLine)
            stream.respond(problem.status, problem.fields, problem.body, isShared: true)
            return
        }
        handlersRunning += 1
        let exchange = owner.opened(request, over: stream)
        stream.began(
            exchange, isHead: request.method == "HEAD",
            expectsContinue: stream.head.expectsContinue && hasBody)
        stream.head = HTTP2RequestHead()
    }

    /// The answer was sent completely, so the rest of the body is not needed (RFC 9113, 8.1).
    func sentEnd(_ stream: HTTP2ServerStream) {
        if !stream.isBodyComplete { session.submitReset(stream.id, code: 0) }
    }

    /// The stream is closed, by its end or by a reset from either side.
    func closed(_ stream: HTTP2ServerStream, code: UInt32) {
        session.consumeConnection(stream.bytesUnconsumed)
        stream.closed()
        streams[stream.slot] = nil
        freeSlots.append(stream.slot)
        openStreams -= 1
        if openStreams == 0 { idleSince = now }
        if code != 0, !resets.take(now: now) { endForResets() }
    }

    private static let refusedStream: UInt32 = 7
    private static let enhanceYourCalm: UInt32 = 11
}
