import CNghttp2

/// The client's end of one HTTP/2 connection as bytes in, bytes out: no socket, no clock.
///
/// Requests go in by `submit`, outcomes come out by `takeFinished` once the call that brought them
/// has returned, each request exactly once. nghttp2 does framing, HPACK and flow control; this
/// decides what became of each request. Everything the peer sends is untrusted: limits are checked
/// as it comes in, and a violation costs the peer its stream or the connection, never more.
final class HTTP2ClientSession {
    /// An outcome on its way to its receiver.
    struct Finished {
        /// nil: the session's own.
        let receiver: (any HTTP2AnswerReceiver)?
        let tag: UInt64
        let outcome: HTTP2Outcome
    }

    /// Ours, for the whole connection: many streams' answers at once.
    private static let connectionWindowBytes: Int32 = 1 << 24
    static let fieldsMax = 64

    let limits: HTTP2ClientLimits
    let slab = StreamSlab()
    private let memory = HTTP2SessionMemory()
    @exclusivity(unchecked) private(set) var session: OpaquePointer?
    /// Templates that nghttp2 may have pointers to; the one that was used last stands at the end.
    private let templates = UnsafeMutablePointer<[HTTP2RequestTemplate]>.allocate(capacity: 1)
    /// Behind a pointer, as what follows: the run-time check for exclusive access costs more than
    /// what is done with it.
    private let finished = UnsafeMutablePointer<[Finished]>.allocate(capacity: 1)
    private let accepted = UnsafeMutablePointer<[UInt64]>.allocate(capacity: 1)

    @exclusivity(unchecked) private var scout = FrameScout()

    /// Bytes handed to the output so far: where the next frame begins.
    @exclusivity(unchecked) private(set) var producedBytes: UInt64 = 0
    private(set) var hasSettings = false
    @exclusivity(unchecked) private var peerStreamsMax: Int
    @exclusivity(unchecked) private(set) var goAway: HTTP2GoAway?
    /// nghttp2's words for the last thing that it minded about the peer.
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

    /// Answers whether it is this connection's first request of `template`.
    func keep(_ template: HTTP2RequestTemplate) -> Bool {
        if templates.pointee.contains(where: { $0 === template }) { return false }
        templates.pointee.append(template)
        return true
    }

    // MARK: State

    /// Requests in hand: open, waiting in nghttp2, or given up and not yet closed.
    var openCount: Int { slab.count }

    /// How many requests may be submitted now.
    var capacity: Int {
        goAway != nil || isClosing ? 0 : max(0, streamLimit - openCount)
    }

    /// How many requests may be open at once.
    var streamLimit: Int { min(limits.streamsMax, peerStreamsMax) }

    /// Nothing is left to be read or written.
    var isOver: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    // MARK: Bytes

    /// Takes what the peer sent. An answer other than nil: the connection is of no more use.
    func receive(_ bytes: UnsafeRawBufferPointer) -> HTTP2Failure? {
        scout.run(through: bytes, session)
        let count = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        guard count < 0 else { return nil }
        return .protocolViolation(String(cString: nghttp2_strerror(Int32(count))))
    }

    /// Adds what is to be sent until `output` is full.
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

    /// What is settled since the last call.
    func takeFinished(into batch: inout [Finished]) {
        swap(&batch, &finished.pointee)
    }

    /// The tags of what the session's own receiver may take as accepted, since the last call.
    func takeAccepted(into batch: inout [UInt64]) {
        swap(&batch, &accepted.pointee)
    }

    /// The request is given up here; its outcome is told now, its slot stays until nghttp2 lets go.
    func abandon(_ slot: StreamSlab.Slot, _ failure: HTTP2Failure) {
        let id = slot.pointee.streamID
        tell(slot, failed(slot, failure))
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, UInt32(NGHTTP2_CANCEL.rawValue))
    }

    /// Gives up what is past its deadline; `now` in monotonic nanoseconds.
    func abandonLate(now: Int64) {
        slab.forEach { slot in
            guard slot.pointee.deadline <= now else { return }
            slot.pointee.deadline = .max
            abandon(slot, .deadline)
        }
    }

    /// The connection is lost, or closed here. `sentBytes`: what the kernel took of the output; a
    /// request that begins behind it was never written.
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

    /// Tells the peer that nothing more comes (GOAWAY, RFC 9113, 6.8) and takes no more.
    func terminate() {
        isClosing = true
        nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue))
    }

    /// No more requests; those that are open go on.
    func drain() { isClosing = true }

    func ping() {
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// What it is when `failure` ends it: by whether anything of it was written.
    ///
    /// nil: it was answered before that, and no more than its 200 is kept.
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

    /// An outcome for a request that got no slot; nil: for the session's own receiver.
    func refuse(_ receiver: (any HTTP2AnswerReceiver)?, _ tag: UInt64, _ failure: HTTP2Failure) {
        finished.pointee.append(
            Finished(receiver: receiver, tag: tag, outcome: .notProcessed(failure)))
    }

    // MARK: What nghttp2 tells

    /// Its head is encoded: nghttp2 needs the values no more.
    func willSend(_ slot: StreamSlab.Slot) {
        slot.pointee.outputOffset = producedBytes
        slab.giveBackValues(of: slot)
    }

    /// The request never became a stream: a GOAWAY came first, or it was given up while it waited.
    func couldNotSend(_ streamID: Int32) {
        // Where there is a stream, its close is told as well, and settles it.
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
        // An earlier 1xx answer's fields are of no use.
        slot.pointee.status = 0
        slot.dropFields()
    }

    /// False: too much.
    func fieldCame(
        _ slot: StreamSlab.Slot, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> Bool {
        guard !slot.pointee.hasHead else { return true }
        if slot.pointee.status == 0, name.first == UInt8(ascii: ":") {
            // The only pseudo-field of an answer, and its first; nghttp2 checked its three digits.
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
        // The connection's window is free at once, so that a slow reader holds nobody else back.
        nghttp2_session_consume_connection(session, bytes.count)
        // An answer of which nothing is kept ends at the stream's own window.
        guard !slot.pointee.isBare else { return }
        if let stream = slot.stream { return stream.bodyCame(bytes) }
        guard !slot.isTold else { return }
        guard slot.append(body: bytes, bytesMax: limits.answerBodyBytesMax) else {
            return abandon(slot, .answerTooLarge)
        }
        // The stream's window opens again only where the largest answer needs more than it.
        if limits.answerBodyBytesMax > limits.streamWindowBytes {
            nghttp2_session_consume_stream(session, slot.pointee.streamID, bytes.count)
        }
    }

    func answerEnded(_ slot: StreamSlab.Slot) {
        slot.pointee.hasEnded = true
        guard !slot.pointee.hasRequestEnded else { return }
        // The answer came before the request was through: what is left of it is of no use to the
        // peer.
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
        // What still waits to be written will never be: nghttp2 would say so only when there is
        // room.
        slab.forEach { slot in
            if slot.pointee.outputOffset == StreamSlot.unwritten {
                abandon(slot, .goneAway(goAway))
            }
        }
    }

    func minded(_ text: String) { complaint = text }
}
