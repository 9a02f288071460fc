import CNghttp2

/// nghttp2's session in the server's role: the only code that calls the library for it. It owns the
/// C object. The object behind `userData` of `open` must outlive it.
final class HTTP2SessionHandle {
    private var session: OpaquePointer?

    init() {}

    deinit { nghttp2_session_del(session) }

    func open(_ userData: UnsafeMutableRawPointer) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        HTTP2ServerCallbacks.set(callbacks)
        var option: OpaquePointer?
        nghttp2_option_new(&option)
        nghttp2_option_set_no_auto_window_update(option, 1)
        nghttp2_option_set_no_closed_streams(option, 1)
        // This can fail only for lack of memory.
        let code = nghttp2_session_server_new2(&session, callbacks, userData, option)
        precondition(code == 0, "nghttp2 made no session")
        nghttp2_option_del(option)
        nghttp2_session_callbacks_del(callbacks)
    }

    /// Deletes the session. nghttp2 is not called afterwards. Must not be called within a callback.
    func close() {
        nghttp2_session_del(session)
        session = nil
    }

    func submitSettings(_ limits: HTTPServerLimits) {
        guard let session else { return }
        let settings = [
            entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streamsPerConnection),
            entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.streamWindow),
            entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP1RequestParser.headBytesMax),
            entry(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ]
        nghttp2_submit_settings(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: limits.connectionWindow))
    }

    func submitMaxConcurrentStreams(_ count: Int) {
        guard let session else { return }
        var setting = entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, count)
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &setting, 1)
    }

    private func entry(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
    }

    /// Returns false if the connection is unusable (for example a bad preface, or no memory).
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let session, let base = bytes.baseAddress else { return true }
        let count = nghttp2_session_mem_recv(
            session, base.assumingMemoryBound(to: UInt8.self), bytes.count)
        return count >= 0
    }

    /// Bytes of the next frame, valid until the next call; nil if there are none.
    func nextOutput() -> UnsafeRawBufferPointer? {
        guard let session else { return nil }
        var base: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(session, &base)
        return count > 0 ? UnsafeRawBufferPointer(start: base, count: count) : nil
    }

    var isFinished: Bool {
        guard let session else { return true }
        return nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    func submitResponse(
        _ stream: Int32, _ block: inout HTTP2FieldBlock, bodyOf source: UnsafeMutableRawPointer?
    ) {
        guard let session else { return }
        block.withFields { fields, count in
            guard let source else {
                nghttp2_submit_response(session, stream, fields, count, nil)
                return
            }
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: source),
                read_callback: HTTP2ServerCallbacks.readBody)
            nghttp2_submit_response(session, stream, fields, count, &provider)
        }
    }

    func submitInterim(_ stream: Int32, _ block: inout HTTP2FieldBlock) {
        guard let session else { return }
        block.withFields { fields, count in
            _ = nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, fields, count, nil)
        }
    }

    func resume(_ stream: Int32) {
        guard let session else { return }
        nghttp2_session_resume_data(session, stream)
    }

    func consume(_ stream: Int32, _ byteCount: Int) {
        guard let session else { return }
        nghttp2_session_consume(session, stream, byteCount)
    }

    func consumeConnection(_ byteCount: Int) {
        guard let session, byteCount > 0 else { return }
        nghttp2_session_consume_connection(session, byteCount)
    }

    func submitReset(_ stream: Int32, code: UInt32) {
        guard let session else { return }
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    }

    func submitShutdownNotice() {
        guard let session else { return }
        nghttp2_submit_shutdown_notice(session)
        nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Id of the newest stream of the peer that was processed.
    var lastStream: Int32 { session.map { nghttp2_session_get_last_proc_stream_id($0) } ?? 0 }

    func submitGoAway(code: UInt32, reason: [UInt8], lastStream: Int32?) {
        guard let session else { return }
        let last = lastStream ?? nghttp2_session_get_last_proc_stream_id(session)
        nghttp2_submit_goaway(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, reason, reason.count)
    }

    /// Sends GOAWAY; the session ends once it is written.
    func terminate(code: UInt32) {
        guard let session else { return }
        nghttp2_session_terminate_session(session, code)
    }
}
