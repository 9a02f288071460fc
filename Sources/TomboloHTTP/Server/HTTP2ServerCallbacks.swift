import CNghttp2

/// The C functions through which nghttp2 calls a server's session. `userData` points to the
/// session, and a stream's user data to its `HTTP2ServerStream`. The pointers retain neither.
enum HTTP2ServerCallbacks {
    static func set(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) {
            library, frame, userData in
            session(userData).beganHead()
            guard isRequest(frame!) else { return 0 }
            let id = frame!.pointee.hd.stream_id
            let stream = session(userData).beganRequest(id)
            nghttp2_session_set_stream_user_data(
                library, id, Unmanaged.passUnretained(stream).toOpaque())
            return 0
        }
        setHeaders(callbacks)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            library, _, id, bytes, count, _ in
            stream(library, id)?.received(UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) {
            library, frame, userData in
            let header = frame!.pointee.hd
            session(userData).receivedFrame(
                type: header.type, flags: header.flags, stream: stream(library, header.stream_id),
                isRequest: isRequest(frame!))
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
            _, _, _, userData in
            session(userData).receivedInvalidFrame()
            return 0
        }
        setSending(callbacks)
    }

    /// Counts each field while it is decoded, valid or not, because one byte on the wire can refer
    /// to a field of 4 KiB (RFC 7541, 6.1). A failure ends the session; the rest is not decoded.
    private static func setHeaders(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            library, frame, name, nameCount, value, valueCount, _, userData in
            let name = UnsafeBufferPointer(start: name, count: nameCount)
            let value = UnsafeBufferPointer(start: value, count: valueCount)
            // Trailers are counted, but not kept.
            let request = isRequest(frame!) ? stream(library, frame!.pointee.hd.stream_id) : nil
            guard
                session(userData).countField(
                    nameCount + valueCount, isPseudo: name.first == HTTP1Bytes.colon, of: request)
            else { return failure }
            request?.head.add(name: name, value: value)
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            library, frame, _, nameCount, _, valueCount, _, userData in
            let request = isRequest(frame!) ? stream(library, frame!.pointee.hd.stream_id) : nil
            guard
                session(userData).countField(nameCount + valueCount, isPseudo: false, of: request)
            else { return failure }
            request?.head.refuse(.badFieldValue)
            return 0
        }
    }

    private static func setSending(_ callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) {
            library, frame, userData in
            let header = frame!.pointee.hd
            let mayEnd =
                header.type == UInt8(NGHTTP2_DATA.rawValue)
                || header.type == UInt8(NGHTTP2_HEADERS.rawValue)
            if mayEnd, header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
                let stream = stream(library, header.stream_id)
            {
                session(userData).sentEnd(stream)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
            library, id, code, userData in
            guard let stream = stream(library, id) else { return 0 }
            session(userData).closed(stream, code: code)
            return 0
        }
    }

    /// Gives nghttp2 the next bytes of an answer.
    static let readBody: nghttp2_data_source_read_callback = {
        _, _, buffer, length, flags, source, _ in
        let stream = Unmanaged<HTTP2ServerStream>.fromOpaque(source!.pointee.ptr)
            .takeUnretainedValue()
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: length)
        guard let (count, isEnd) = stream.fill(target) else {
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
        if isEnd { flags!.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
        return count
    }
}

private let failure = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

// These are free functions because a C function pointer can capture nothing, not even `Self`.

private func isRequest(_ frame: UnsafePointer<nghttp2_frame>) -> Bool {
    frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue)
        && frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
}

private func session(_ userData: UnsafeMutableRawPointer?) -> HTTP2ServerSession {
    Unmanaged<HTTP2ServerSession>.fromOpaque(userData!).takeUnretainedValue()
}

private func stream(_ library: OpaquePointer?, _ id: Int32) -> HTTP2ServerStream? {
    guard let pointer = nghttp2_session_get_stream_user_data(library, id) else { return nil }
    return Unmanaged<HTTP2ServerStream>.fromOpaque(pointer).takeUnretainedValue()
}
