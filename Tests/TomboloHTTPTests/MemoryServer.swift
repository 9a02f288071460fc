import CNghttp2

/// A server's nghttp2 session as bytes in, bytes out, which answers only when it is told to.
final class MemoryServer {
    private var session: OpaquePointer?
    /// Requests whose head came, in order.
    private(set) var seen: [Int32] = []
    /// Requests that came whole and are not answered, reset or closed.
    private(set) var pending: [Int32] = []
    private(set) var answered: Set<Int32> = []
    private(set) var refused: Set<Int32> = []
    /// The lowest last id of a GOAWAY.
    private(set) var lastID = Int32.max
    private(set) var open = 0
    private(set) var openMax = 0
    private(set) var isBroken = false

    init(streamsMax: UInt32) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            this(user!).took(frame!.pointee.hd)
            return 0
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            let this = this(user!)
            this.seen.append(frame!.pointee.hd.stream_id)
            this.open += 1
            this.openMax = max(this.openMax, this.open)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, user in
            this(user!).open -= 1
            this(user!).pending.removeAll { $0 == id }
            return 0
        }
        let user = Unmanaged.passUnretained(self).toOpaque()
        nghttp2_session_server_new(&session, callbacks, user)
        allow(streamsMax)
    }

    deinit { nghttp2_session_del(session) }

    private func took(_ head: nghttp2_frame_hd) {
        let isRequest =
            head.type == UInt8(NGHTTP2_HEADERS.rawValue)
            || head.type == UInt8(NGHTTP2_DATA.rawValue)
        if isRequest, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
            pending.append(head.stream_id)
        }
    }

    func allow(_ streamsMax: UInt32) {
        var entry = nghttp2_settings_entry(settings_id: 3, value: streamsMax)
        nghttp2_submit_settings(session, 0, &entry, 1)
    }

    func answer(_ id: Int32) {
        let name: StaticString = ":status"
        let value: StaticString = "200"
        var field = nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start),
            value: UnsafeMutablePointer(mutating: value.utf8Start), namelen: 7, valuelen: 3,
            flags: 0)
        nghttp2_submit_response(session, id, &field, 1, nil)
        answered.insert(id)
        pending.removeAll { $0 == id }
    }

    func reset(_ id: Int32, _ code: UInt32) {
        nghttp2_submit_rst_stream(session, 0, id, code)
        if code == 7 { refused.insert(id) }
        pending.removeAll { $0 == id }
    }

    func goAway(last: Int32) {
        nghttp2_submit_goaway(session, 0, last, 0, nil, 0)
        lastID = min(lastID, last)
    }

    /// It has nothing more to say or hear (after a GOAWAY nghttp2 even drops the last stream's
    /// reset): a real server closes the connection now.
    var isOver: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    func receive(_ bytes: ArraySlice<UInt8>) {
        let count = bytes.withUnsafeBufferPointer {
            nghttp2_session_mem_recv(session, $0.baseAddress, $0.count)
        }
        if count < 0 { isBroken = true }
    }

    func output() -> [UInt8] {
        var all: [UInt8] = []
        var bytes: UnsafePointer<UInt8>?
        while true {
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0 else { return all }
            all += UnsafeBufferPointer(start: bytes, count: count)
        }
    }
}

private func this(_ user: UnsafeMutableRawPointer) -> MemoryServer {
    Unmanaged<MemoryServer>.fromOpaque(user).takeUnretainedValue()
}
