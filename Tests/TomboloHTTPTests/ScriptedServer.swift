import CNghttp2
import TestSupport
import TomboloHTTP
import TomboloLoop

/// An HTTP/2 server that does what a test tells it, also what no good server would do: a raw
/// nghttp2 server session on each connection.
final class ScriptedServer: ListenerOwner, @unchecked Sendable {  // used on its loop only
    let loop: EpollLoop
    let listener: Listener
    var onRequest: (ScriptedConnection, ScriptedConnection.Request) -> Void
    /// Settings that each connection begins with.
    var settings: [(UInt32, UInt32)] = []
    /// A connection that takes bytes and says nothing, not even SETTINGS.
    var isMute = false
    private(set) var connections: [ScriptedConnection] = []

    init(
        _ loop: EpollLoop, tls: TLSServerConfiguration? = nil,
        onRequest: @escaping (ScriptedConnection, ScriptedConnection.Request) -> Void = {
            $0.respond($1.streamID, 200)
        }
    ) throws {
        self.loop = loop
        self.onRequest = onRequest
        listener = try Listener(on: loop, at: ListenAddress(host: "127.0.0.1", port: 0), tls: tls)
        try listener.start(self)
    }

    func accepted(_ connection: Connection) {
        let scripted = ScriptedConnection(self, connection)
        connections.append(scripted)
        connection.start(scripted)
    }

    func connect(
        tls: TLSClientConfiguration? = nil, limits: HTTP2ClientLimits = HTTP2ClientLimits()
    ) async throws(ConnectionError) -> HTTP2Client {
        try await HTTP2Client.connect(
            HTTP2Endpoint(
                scheme: tls == nil ? .http : .https, host: "127.0.0.1",
                port: listener.address.port),
            tls: tls, on: loop, within: .seconds(20), limits: limits)
    }
}

/// Runs `body` beside a scripted server and a client of it, and then closes both.
func withScript(
    settings: [(UInt32, UInt32)] = [], limits: HTTP2ClientLimits = HTTP2ClientLimits(),
    answer: @escaping @Sendable (ScriptedConnection, ScriptedConnection.Request) -> Void = {
        $0.respond($1.streamID, 200)
    },
    _ body: @escaping @Sendable (EpollLoop, ScriptedServer, HTTP2Client) async throws -> Void
) async throws {
    try await onLoop { loop in
        let server = try ScriptedServer(loop, onRequest: answer)
        server.settings = settings
        let client = try await server.connect(limits: limits)
        try await body(loop, server, client)
        client.close()
        server.listener.close()
    }
}

/// One connection of a scripted server.
final class ScriptedConnection: ByteStreamOwner {
    struct Request: Equatable {
        let streamID: Int32
        var fields: [String: String] = [:]
        /// Names that came as never-indexed literals.
        var neverIndexed: [String] = []
        var body: [UInt8] = []
        var hasEnded = false
    }

    private unowned let server: ScriptedServer
    let connection: Connection
    private var session: OpaquePointer?
    private(set) var requests: [Int32: Request] = [:]
    /// In the order in which their heads came.
    private(set) var order: [Int32] = []
    private var answers: [Int32: ArraySlice<UInt8>] = [:]
    private var trailers: [Int32: [(String, String)]] = [:]
    private(set) var openMax = 0
    private(set) var open = 0
    private(set) var pings = 0
    private(set) var priorityFrames = 0
    private(set) var resets: [Int32: UInt32] = [:]
    var readsBodies = true
    private(set) var hasEnded = false

    init(_ server: ScriptedServer, _ connection: Connection) {
        self.server = server
        self.connection = connection
    }

    deinit { nghttp2_session_del(session) }

    // MARK: Script

    func respond(
        _ id: Int32, _ status: Int, fields: [(String, String)] = [], body: [UInt8] = [],
        trailers: [(String, String)] = [], isWhole: Bool = true
    ) {
        answers[id] = body[...]
        self.trailers[id] = trailers
        withFields([(":status", "\(status)")] + fields) { names, count in
            guard !body.isEmpty || !isWhole else {
                nghttp2_submit_response(session, id, names, count, nil)
                return
            }
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(fd: isWhole ? 1 : 0),
                read_callback: { _, id, buffer, capacity, flags, source, user in
                    this(user!).read(id, buffer!, capacity, &flags!.pointee, source!.pointee.fd)
                })
            nghttp2_submit_response(session, id, names, count, &provider)
        }
        connection.wantsOutput()
    }

    func inform(_ id: Int32, _ status: Int) {
        withFields([(":status", "\(status)"), ("x-early", "1")]) { names, count in
            nghttp2_submit_headers(session, 0, id, nil, names, count, nil)
        }
        connection.wantsOutput()
    }

    func reset(_ id: Int32, _ code: UInt32) {
        nghttp2_submit_rst_stream(session, 0, id, code)
        connection.wantsOutput()
    }

    func goAway(last: Int32, code: UInt32 = 0, debug: String = "") {
        let bytes = Array(debug.utf8)
        nghttp2_submit_goaway(session, 0, last, code, bytes, bytes.count)
        connection.wantsOutput()
    }

    func set(_ settings: [(UInt32, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0), value: $0.1) }
        nghttp2_submit_settings(session, 0, entries, entries.count)
        connection.wantsOutput()
    }

    /// Writes bytes that no session would.
    var rawOutput: [UInt8] = []

    func writeRaw(_ bytes: [UInt8]) {
        rawOutput += bytes
        connection.wantsOutput()
    }

    private func read(
        _ id: Int32, _ buffer: UnsafeMutablePointer<UInt8>, _ capacity: Int,
        _ flags: inout UInt32, _ isWhole: Int32
    ) -> Int {
        let piece = (answers[id] ?? []).prefix(capacity)
        answers[id] = answers[id]?.dropFirst(piece.count)
        for (offset, byte) in piece.enumerated() { buffer[offset] = byte }
        if answers[id]?.isEmpty != false {
            if isWhole == 1 { flags |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            if let trailers = trailers[id], !trailers.isEmpty {
                flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                withFields(trailers) { nghttp2_submit_trailer(session, id, $0, $1) }
            }
            if isWhole == 0, piece.isEmpty { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        }
        return piece.count
    }

    // MARK: Session

    func opened() {
        guard !server.isMute else { return }
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, flags, user in
            this(user!).took(
                frame!.pointee.hd.stream_id,
                String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self),
                String(
                    decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self),
                flags)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session, _, id, bytes, count, user in
            this(user!).requests[id]?.body += Array(UnsafeBufferPointer(start: bytes, count: count))
            if this(user!).readsBodies { nghttp2_session_consume(session, id, count) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            this(user!).took(frame!)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, _, _, user in
            this(user!).open -= 1
            return 0
        }
        var options: OpaquePointer?
        nghttp2_option_new(&options)
        defer { nghttp2_option_del(options) }
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_session_server_new2(
            &session, callbacks, Unmanaged.passUnretained(self).toOpaque(), options)
        set(server.settings)
    }

    private func took(_ id: Int32, _ name: String, _ value: String, _ flags: UInt8) {
        if requests[id] == nil {
            requests[id] = Request(streamID: id)
            order.append(id)
            open += 1
            openMax = max(openMax, open)
        }
        requests[id]?.fields[name] = value
        if flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0 {
            requests[id]?.neverIndexed.append(name)
        }
    }

    private func took(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_PING.rawValue: pings += 1
        case NGHTTP2_PRIORITY.rawValue: priorityFrames += 1
        case NGHTTP2_RST_STREAM.rawValue:
            resets[head.stream_id] = frame.pointee.rst_stream.error_code
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if head.flags & UInt8(NGHTTP2_FLAG_PRIORITY.rawValue) != 0,
                UInt32(head.type) == NGHTTP2_HEADERS.rawValue
            {
                priorityFrames += 1
            }
            guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
                requests[head.stream_id] != nil
            else { return }
            requests[head.stream_id]?.hasEnded = true
            server.onRequest(self, requests[head.stream_id]!)
        default: break
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
        guard let session else { return }
        let count = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if count < 0 { connection.abort() } else { connection.wantsOutput() }
    }

    func fillOutput(_ output: OutputBuffer) {
        output.append(rawOutput)
        rawOutput = []
        guard let session else { return }
        var bytes: UnsafePointer<UInt8>?
        while !output.isFull {
            let count = nghttp2_session_mem_send(session, &bytes)
            guard count > 0 else { return }
            output.append(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    func inputEnded() { connection.close() }
    func closed(_ error: ConnectionError?) { hasEnded = true }
}

private func this(_ user: UnsafeMutableRawPointer) -> ScriptedConnection {
    Unmanaged<ScriptedConnection>.fromOpaque(user).takeUnretainedValue()
}

private func withFields(
    _ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>, Int) -> Void
) {
    var bytes = fields.flatMap { Array($0.0.utf8) + Array($0.1.utf8) }
    bytes.withUnsafeMutableBufferPointer { buffer in
        var offset = 0
        let names = fields.map { name, value in
            defer { offset += name.utf8.count + value.utf8.count }
            let start = buffer.baseAddress! + offset
            return nghttp2_nv(
                name: start, value: start + name.utf8.count, namelen: name.utf8.count,
                valuelen: value.utf8.count, flags: 0)
        }
        body(names, names.count)
    }
}
