import CNghttp2

/// Callbacks of nghttp2. Each only finds its session and slot and forwards the call.
extension HTTP2ClientSession {
    static func install(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) {
            session, frame, user in
            guard let frame, isRequest(frame) else { return 0 }
            if let slot = streamSlot(session, frame.pointee.hd.stream_id) {
                this(user)._withUnsafeGuaranteedRef { $0.willSend(slot) }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, user in
            if let frame, isRequest(frame) {
                this(user)._withUnsafeGuaranteedRef { $0.couldNotSend(frame.pointee.hd.stream_id) }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
            session, id, code, user in
            if let slot = streamSlot(session, id) {
                this(user)._withUnsafeGuaranteedRef { $0.streamClosed(slot, code: code) }
            }
            return 0
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, count, user in
            let bytes = UnsafeRawBufferPointer(start: text, count: min(count, 200))
            this(user).takeUnretainedValue().minded(String(decoding: bytes, as: UTF8.self))
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
            _, frame, code, user in
            let frameType = frame?.pointee.hd.type ?? 0
            this(user).takeUnretainedValue().minded(
                "\(String(cString: nghttp2_strerror(code))) (frame type \(frameType))")
            return 0
        }
        installReceiving(callbacks)
    }

    private static func installReceiving(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, user in
            if let frame, let slot = streamSlot(session, frame.pointee.hd.stream_id) {
                this(user)._withUnsafeGuaranteedRef { $0.headBegan(slot) }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session, frame, name, nameCount, value, valueCount, _, user in
            guard let frame, let slot = streamSlot(session, frame.pointee.hd.stream_id) else {
                return 0
            }
            guard !slot.pointee.isBare else { return 0 }
            let isTaken = this(user)._withUnsafeGuaranteedRef {
                $0.fieldCame(
                    slot, UnsafeRawBufferPointer(start: name, count: nameCount),
                    UnsafeRawBufferPointer(start: value, count: valueCount))
            }
            return isTaken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session, _, id, bytes, count, user in
            guard let slot = streamSlot(session, id) else {
                nghttp2_session_consume_connection(session, count)
                return 0
            }
            this(user)._withUnsafeGuaranteedRef {
                $0.bodyCame(slot, UnsafeRawBufferPointer(start: bytes, count: count))
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, user in
            if let frame {
                this(user)._withUnsafeGuaranteedRef { frameCame(session, frame, $0) }
            }
            return 0
        }
    }
}

// These are free functions because a C function pointer can capture nothing, not even `Self`.

private func frameCame(
    _ session: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>,
    _ this: HTTP2ClientSession
) {
    let head = frame.pointee.hd
    let isLast = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    let isAcknowledgement = head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue:
        if let slot = streamSlot(session, head.stream_id) { this.headCame(slot, isLast: isLast) }
    case NGHTTP2_DATA.rawValue:
        if isLast, let slot = streamSlot(session, head.stream_id) { this.answerEnded(slot) }
    case NGHTTP2_SETTINGS.rawValue:
        if !isAcknowledgement { this.settingsCame() }
    case NGHTTP2_GOAWAY.rawValue:
        let goAway = frame.pointee.goaway
        this.goAwayCame(
            lastStreamID: goAway.last_stream_id, code: goAway.error_code,
            debugData: UnsafeRawBufferPointer(
                start: goAway.opaque_data, count: goAway.opaque_data_len))
    default: break
    }
}

@inline(__always)
private func this(_ user: UnsafeMutableRawPointer?) -> Unmanaged<HTTP2ClientSession> {
    // nghttp2's session is deleted in `deinit`, so the object is alive during every callback.
    Unmanaged<HTTP2ClientSession>.fromOpaque(user!)
}

@inline(__always)
private func streamSlot(_ session: OpaquePointer?, _ id: Int32) -> StreamSlab.Slot? {
    nghttp2_session_get_stream_user_data(session, id)?
        .assumingMemoryBound(to: StreamSlot.self)
}

@inline(__always)
private func isRequest(_ frame: UnsafePointer<nghttp2_frame>) -> Bool {
    UInt32(frame.pointee.hd.type) == NGHTTP2_HEADERS.rawValue
        && frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
}
