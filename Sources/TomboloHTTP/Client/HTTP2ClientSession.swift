import CNghttp2

/// The client's side of one HTTP/2 connection: bytes in, bytes out. It has no socket and no clock.
///
/// `submit` takes requests. `takeFinished` returns each request's outcome exactly once. nghttp2
/// does framing, HPACK and flow control. Everything that the peer sends is untrusted: limits are
/// checked on arrival, and a violation ends the stream or the connection.
final class HTTP2ClientSession {
    /// An outcome to be delivered to its receiver.
    struct Finished {
        /// nil means the session's own receiver.
        let receiver: (any HTTP2AnswerReceiver)?
        let tag: UInt64
        let outcome: HTTP2Outcome
    }

    /// This side's receive window for the whole connection: enough for the answers of many streams.
    private static let connectionWindowBytes: Int32 = 1 << 24
    static let fieldsMax = 64

    let limits: HTTP2ClientLimits
    let slab = StreamSlab()
    private let memory = HTTP2SessionMemory()
    @exclusivity(unchecked) private(set) var session: OpaquePointer?
    /// Templates whose bytes nghttp2 may point to, in the order of their first requests.
    private let templates = UnsafeMutablePointer<[HTTP2RequestTemplate]>.allocate(capacity: 1)
    /// `templates` and the next two are behind pointers: the run-time check for exclusive access
    /// would cost more than the accesses themselves.
    private let finished = UnsafeMutablePointer<[Finished]>.allocate(capacity: 1)
    private let accepted = UnsafeMutablePointer<[UInt64]>.allocate(capacity: 1)

    @exclusivity(unchecked) private var scout = FrameScout()

    /// Bytes handed to the output so far: the offset at which the next frame begins.
    @exclusivity(unchecked) private(set) var producedBytes: UInt64 = 0
    private(set) var hasSettings = false
    @exclusivity(unchecked) private var peerStreamsMax: Int
    @exclusivity(unchecked) private(set) var goAway: HTTP2GoAway?
    /// nghttp2's message about the peer's last violation.
    private(set) var complaint = "no reason given"
    @exclusivity(unchecked) private var isClosing = false

    let names = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: fieldsMax + 4)
    var pseudoBytes: [UInt8] = []

    init(limits: HTTP2ClientLimits) {
        self.limits = limits
        peerStreamsMax = limits.streamsBeforeSettings
        finished.initialize(to: [])
        accepted.initialize(to: [])
        templates.initialize(to: [])
        makeSession()
    }

    deinit {
        nghttp2_session_del(session)
        names.deallocate()
        finished.deinitialize(count: 1)
        finished.deallocate()
        accepted.deinitialize(count: 1)
        accepted.deallocate()
        templates.deinitialize(count: 1)
        templates.deallocate()
    }

    private func makeSession() {
        var options: OpaquePointer?
        var callbacks: OpaquePointer?
        guard nghttp2_option_new(&options) == 0, nghttp2_session_callbacks_new(&callbacks) == 0
        else { preconditionFailure("out of memory") }
        defer {
            nghttp2_option_del(options)
            nghttp2_session_callbacks_del(callbacks)
        }
        nghttp2_option_set_peer_max_concurrent_streams(
            options, UInt32(limits.streamsBeforeSettings))
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_option_set_max_reserved_remote_streams(options, 0)
        Self.install(callbacks)
        let this = Unmanaged.passUnretained(self).toOpaque()
        var functions = memory.functions
        guard nghttp2_session_client_new3(&session, callbacks, this, options, &functions) == 0
        else { preconditionFailure("out of memory") }
        submitSettings()
    }

    private func submitSettings() {
        let settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
                value: UInt32(limits.streamWindowBytes)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(limits.answerFieldsBytesMax)),
        ]
        nghttp2_submit_settings(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindowBytes)
    }

    /// Retains `template`. Returns true if this is the connection's first request of it.
    func keep(_ template: HTTP2RequestTemplate) -> Bool {
        if templates.pointee.contains(where: { $0 === template }) { return false }
        templates.pointee.append(template)
        return true
    }

    // MARK: State

    /// Requests that are open, waiting in nghttp2, or given up and not yet closed.
    var openCount: Int { slab.count }

    /// How many requests may be submitted now.
    var capacity: Int {
        goAway != nil || isClosing ? 0 : max(0, streamLimit - openCount)
    }

    /// How many requests may be open at once.
    var streamLimit: Int { min(limits.streamsMax, peerStreamsMax) }

    /// True if nothing is left to read or write.
    var isOver: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    // MARK: Bytes

    /// Takes bytes from the peer. A result other than nil means that the connection is unusable.
    func receive(_ bytes: UnsafeRawBufferPointer) -> HTTP2Failure? {
        scout.run(through: bytes, session)
        let count = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        guard count < 0 else { return nil }
        return .protocolViolation(String(cString: nghttp2_strerror(Int32(count))))
    }

    /// Appends pending frames to `output` until it is full. Returns nil unless nghttp2 fails.
    func fill(_ output: OutputBuffer) -> HTTP2Failure? {
        while !output.isFull {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0 else {
                return count == 0
                    ? nil : .protocolViolation(String(cString: nghttp2_strerror(Int32(count))))
            }
            output.append(UnsafeRawBufferPointer(start: bytes, count: count))
            producedBytes += UInt64(count)
        }
        return nil
    }

    // MARK: Outcomes

    /// Swaps in the outcomes since the last call.
    func takeFinished(into batch: inout [Finished]) {
        swap(&batch, &finished.pointee)
    }

    /// Swaps in the tags of the requests answered with a 200 that is not kept, since the last call.
    func takeAccepted(into batch: inout [UInt64]) {
        swap(&batch, &accepted.pointee)
    }

    /// Gives up a request and reports its outcome. Its slot stays until the stream is closed.
    func abandon(_ slot: StreamSlab.Slot, _ failure: HTTP2Failure) {
        let id = slot.pointee.streamID
        tell(slot, failed(slot, failure))
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, UInt32(NGHTTP2_CANCEL.rawValue))
    }

    /// Gives up the requests that are past their deadline. `now` is in monotonic nanoseconds.
    func abandonLate(now: Int64) {
        slab.forEach { slot in
            guard slot.pointee.deadline <= now else { return }
            slot.pointee.deadline = .max
            abandon(slot, .deadline)
        }
    }

    /// Settles all requests because the connection is lost or closed. `sentBytes` is the number of
    /// output bytes that the kernel took. A request that begins at or after it was never written.
    func end(_ failure: HTTP2Failure, sentBytes: UInt64) {
        isClosing = true
        var slots: [StreamSlab.Slot] = []
        slab.forEach { slots.append($0) }
        for slot in slots {
            if slot.pointee.outputOffset >= sentBytes {
                slot.pointee.outputOffset = StreamSlot.unwritten
            }
            nghttp2_session_set_stream_user_data(session, slot.pointee.streamID, nil)
            finish(slot, failed(slot, failure))
        }
    }

    /// Sends GOAWAY (RFC 9113, 6.8) and takes no more requests.
    func terminate() {
        isClosing = true
        nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue))
    }

    /// Takes no more requests; open requests go on.
    func drain() { isClosing = true }

    func ping() {
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Outcome of a request that fails: `notProcessed` if nothing was written, else `unknown`.
    ///
    /// If the answer was complete before, returns that answer, or nil if it was a 200 whose fields
    /// and body are not kept.
    private func failed(
        _ slot: StreamSlab.Slot, _ failure: @autoclosure () -> HTTP2Failure
    ) -> HTTP2Outcome? {
        if slot.pointee.hasEnded, slot.pointee.hasHead {
            return slot.pointee.isBare ? nil : answer(slot)
        }
        let failure = failure()
        return slot.pointee.outputOffset == StreamSlot.unwritten
            ? .notProcessed(failure) : .unknown(failure)
    }

    private func answer(_ slot: StreamSlab.Slot) -> HTTP2Outcome {
        .answered(
            HTTPAnswer(
                status: Int(slot.pointee.status), fields: slot.fields,
                body: slot.answerBody))
    }

    private func tell(_ slot: StreamSlab.Slot, _ outcome: HTTP2Outcome?) {
        if slot.pointee.tellsSessionReceiver {
            slot.pointee.tellsSessionReceiver = false
            guard let outcome else { return accepted.pointee.append(slot.pointee.tag) }
            finished.pointee.append(
                Finished(receiver: nil, tag: slot.pointee.tag, outcome: outcome))
        } else if let receiver = slot.receiver {
            slot.receiver = nil
            finished.pointee.append(
                Finished(
                    receiver: receiver, tag: slot.pointee.tag, outcome: outcome ?? answer(slot)))
        }
        if let stream = slot.stream {
            slot.stream = nil
            stream.ended(outcome ?? answer(slot))
        }
    }

    private func finish(_ slot: StreamSlab.Slot, _ outcome: HTTP2Outcome?) {
        tell(slot, outcome)
        slab.giveBack(slot)
    }

    /// Reports a failure for a request that got no slot. A nil `receiver` means the session's own.
    func refuse(_ receiver: (any HTTP2AnswerReceiver)?, _ tag: UInt64, _ failure: HTTP2Failure) {
        finished.pointee.append(
            Finished(receiver: receiver, tag: tag, outcome: .notProcessed(failure)))
    }

    // MARK: Callbacks of nghttp2

    /// The request's head is being encoded; nghttp2 no longer needs the values.
    func willSend(_ slot: StreamSlab.Slot) {
        slot.pointee.outputOffset = producedBytes
        slab.giveBackValues(of: slot)
    }

    /// The request never became a stream: a GOAWAY came first, or it was given up while it waited.
    func couldNotSend(_ streamID: Int32) {
        // If a stream exists, nghttp2 reports its close too, and that settles the request.
        guard nghttp2_session_find_stream(session, streamID) == nil,
            let slot = slab.find(streamID)
        else { return }
        finish(slot, .notProcessed(goAway.map { .goneAway($0) } ?? .refused))
    }

    func streamClosed(_ slot: StreamSlab.Slot, code: UInt32) {
        let wasRefused = code == UInt32(NGHTTP2_REFUSED_STREAM.rawValue) && !slot.pointee.hasHead
        guard wasRefused else { return finish(slot, failed(slot, .reset(code))) }
        if let goAway, slot.pointee.streamID > goAway.lastStreamID {
            finish(slot, .notProcessed(.goneAway(goAway)))
        } else {
            finish(slot, .notProcessed(.refused))
        }
    }

    func headBegan(_ slot: StreamSlab.Slot) {
        guard !slot.pointee.hasHead else { return }
        // Drop the fields of an earlier 1xx answer.
        slot.pointee.status = 0
        slot.dropFields()
    }

    /// Returns false if the fields are too large.
    func fieldCame(
        _ slot: StreamSlab.Slot, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> Bool {
        guard !slot.pointee.hasHead else { return true }
        if slot.pointee.status == 0, name.first == UInt8(ascii: ":") {
            // `:status`. nghttp2 has checked that it comes first and has three digits.
            var status: Int32 = 0
            for digit in value { status = status &* 10 &+ Int32(digit &- 48) }
            slot.pointee.status = status
            return true
        }
        if slot.pointee.isBare || slot.isTold { return true }
        if slot.append(field: name, value, bytesMax: limits.answerFieldsBytesMax) {
            return true
        }
        abandon(slot, .answerTooLarge)
        return false
    }

    func headCame(_ slot: StreamSlab.Slot, isLast: Bool) {
        if !slot.pointee.hasHead, slot.pointee.status >= 200 {
            slot.pointee.hasHead = true
            slot.stream?.headCame(
                status: Int(slot.pointee.status), fields: slot.fields)
        }
        if isLast { answerEnded(slot) }
    }

    func bodyCame(_ slot: StreamSlab.Slot, _ bytes: UnsafeRawBufferPointer) {
        // Reopen the connection's window at once: a slow reader must not hold up other streams.
        nghttp2_session_consume_connection(session, bytes.count)
        // A body that is not kept is not consumed, so the stream's own window limits it.
        guard !slot.pointee.isBare else { return }
        if let stream = slot.stream { return stream.bodyCame(bytes) }
        guard !slot.isTold else { return }
        guard slot.append(body: bytes, bytesMax: limits.answerBodyBytesMax) else {
            return abandon(slot, .answerTooLarge)
        }
        // Reopen the stream's window only if the largest allowed answer exceeds it.
        if limits.answerBodyBytesMax > limits.streamWindowBytes {
            nghttp2_session_consume_stream(session, slot.pointee.streamID, bytes.count)
        }
    }

    func answerEnded(_ slot: StreamSlab.Slot) {
        slot.pointee.hasEnded = true
        guard !slot.pointee.hasRequestEnded else { return }
        // The answer is complete before the request: the peer does not need the request's rest.
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.pointee.streamID,
            UInt32(NGHTTP2_NO_ERROR.rawValue))
    }

    func settingsCame() {
        hasSettings = true
        let allowed = nghttp2_session_get_remote_settings(
            session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
        peerStreamsMax = Int(allowed)
    }

    func goAwayCame(lastStreamID: Int32, code: UInt32, debugData: UnsafeRawBufferPointer) {
        let goAway = HTTP2GoAway(
            lastStreamID: lastStreamID, errorCode: code,
            debugData: Array(debugData.prefix(HTTP2GoAway.debugBytesMax)))
        self.goAway = goAway
        // Requests that still wait will never be written, but nghttp2 would report them only once
        // there is capacity.
        slab.forEach { slot in
            if slot.pointee.outputOffset == StreamSlot.unwritten {
                abandon(slot, .goneAway(goAway))
            }
        }
    }

    func minded(_ text: String) { complaint = text }
}
