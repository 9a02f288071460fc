import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// A connection to a relay, over HTTP/2. Used on the loop only.
package final class RelayClient: @unchecked Sendable {
    // Sendable: used on the loop's thread only, where commands run.

    private let connection: HTTP2Client
    private let origin: Origin
    private let key: String?

    private init(_ connection: HTTP2Client, origin: Origin, key: String?) {
        (self.connection, self.origin, self.key) = (connection, origin, key)
    }

    /// How long the relay may take to accept a connection.
    static let connectTimeout = Duration.seconds(10)
    /// How long one answer may take. A time in `Prefer: wait` must be shorter.
    static let answerTimeout = Duration.seconds(60)
    /// Maximum size of an answer in bytes. A page has at most a thousand rows of 64 KiB.
    static let answerBytesMax = 64 << 20

    /// Connects to the relay that `--relay`, `--key` and `--ca` name.
    package static func connect(_ context: CommandContext) async throws -> RelayClient {
        let invocation = context.invocation
        guard let origin = invocation.origin(.relay) else {
            throw ProgramError.usage("no --relay", remedy: "tombolo help \(invocation.commandName)")
        }
        return try await connect(
            to: origin, key: invocation.text(.key), caFile: invocation.text(.caFile),
            loop: context.loop)
    }

    /// - Parameter isOwn: true if this machine's relay is asked something without a key: then its
    ///   certificate, which may be for another name, is not checked.
    static func connect(
        to origin: Origin, key: String?, caFile: String?, isOwn: Bool = false, loop: EpollLoop
    ) async throws -> RelayClient {
        let tls = try isOwn ? unchecked(origin) : trust(origin, caFile: caFile)
        let endpoint = HTTP2Endpoint(
            scheme: tls == nil ? .http : .https, host: origin.host, port: Int(origin.port))
        var limits = HTTP2ClientLimits()
        limits.answerBodyBytesMax = answerBytesMax
        do throws(ConnectionError) {
            let connection = try await HTTP2Client.connect(
                endpoint, tls: tls, on: loop, within: connectTimeout, limits: limits)
            return RelayClient(connection, origin: origin, key: key)
        } catch {
            throw await unreachable(origin, error, loop)
        }
    }

    /// The error for a failed connection. If the port speaks the other scheme, the error says so:
    /// then the relay runs, and only `--relay` is wrong.
    private static func unreachable(
        _ origin: Origin, _ error: ConnectionError, _ loop: EpollLoop
    ) async -> ProgramError {
        func otherScheme(_ cause: String, _ scheme: Origin.Scheme) -> ProgramError {
            let other = Origin(scheme: scheme, host: origin.host, port: origin.port)
            return ProgramError(
                "\(origin): \(cause)", remedy: "--relay \(other)", status: .unreachable)
        }
        switch (origin.scheme, error.kind) {
        case (.https, .notTLS):
            return otherScheme("this port speaks clear text and not TLS", .http)
        case (.http, .reset), (.http, .notHTTP2):
            if await speaksTLS(origin, loop) {
                return otherScheme("this port speaks TLS and not clear text", .https)
            }
        case (.https, .tls):
            return ProgramError(
                "\(origin) is not trusted: \(error)",
                remedy: "--ca FILE, the authority that signed its certificate",
                status: .unreachable)
        default: break
        }
        var refused = ProgramError(
            "no relay at \(origin): \(error)",
            remedy: "tombolo dev, or name another with --relay ORIGIN", status: .unreachable)
        refused.isConnectionRefused = error.kind == .refused
        return refused
    }

    /// True if a port that does not accept clear text answers a TLS handshake, even if its
    /// certificate is not trusted.
    private static func speaksTLS(_ origin: Origin, _ loop: EpollLoop) async -> Bool {
        guard let tls = try? TLSClientConfiguration() else { return false }  // no authorities
        do throws(ConnectionError) {
            let connection = try await Connection.dial(
                host: origin.host, port: Int(origin.port), tls: tls, on: loop,
                within: probeTimeout)
            connection.abort()
            return true
        } catch {
            return error.kind == .tls && error.message.contains("certificate")
        }
    }

    /// Time limit for finding out which scheme a port speaks after a failed connection.
    private static let probeTimeout = Duration.seconds(2)

    private static func unchecked(_ origin: Origin) throws -> TLSClientConfiguration? {
        origin.scheme == .https ? try TLSClientConfiguration(trust: .anybody) : nil
    }

    private static func trust(
        _ origin: Origin, caFile: String?
    ) throws(ProgramError) -> TLSClientConfiguration? {
        guard origin.scheme == .https else { return nil }
        do {
            guard let caFile else { return try TLSClientConfiguration() }
            let bytes = try FileBytes.read(caFile)
            return try TLSClientConfiguration(trust: .certificates(bytes))
        } catch {
            throw .usage("--ca \(caFile ?? "") cannot be used: \(error)", remedy: "see the file")
        }
    }

    /// True if another request can be sent. A relay closes idle connections.
    var isOpen: Bool { if case .open = connection.state { true } else { false } }

    package func close() { connection.close() }

    /// Sends a request and waits for its whole answer. Throws if the relay refuses it. The error's
    /// remedy contains `name`.
    package func send(_ request: RelayRequest, name: String?) async throws(ProgramError)
        -> RelayAnswer
    {
        let answer = try await answer(request)
        guard (200..<300).contains(answer.status) else {
            throw RelayProblem(status: answer.status, body: answer.body)
                .error(name: name, path: request.path)
        }
        return answer
    }

    /// What the relay has at a path.
    func view(_ path: String, name: String?) async throws(ProgramError) -> JSONView {
        try await send(RelayRequest("GET", path), name: name).document().root
    }

    /// Like `send`, but returns also a refusal as an answer.
    func answer(_ request: RelayRequest) async throws(ProgramError) -> RelayAnswer {
        switch await connection.perform(wireForm(request), timeout: Self.answerTimeout) {
        case .answered(let answer): return RelayAnswer(status: answer.status, body: answer.body)
        case .notProcessed(let failure), .unknown(let failure):
            throw lost(failure)
        }
    }

    /// Opens a request with a streamed answer, and if `hasBody` with a streamed body. Does not wait
    /// for the answer: a proxy may begin it only after the whole body.
    func stream(_ request: RelayRequest, hasBody: Bool) async throws -> RelayStream {
        do {
            let stream = try await connection.open(wireForm(request), uploads: hasBody)
            return RelayStream(stream) { self.lost($0) }
        } catch let failure as HTTP2Failure {
            throw lost(failure)
        }
    }

    private func lost(_ failure: HTTP2Failure) -> ProgramError {
        ProgramError(
            "the relay at \(origin) did not answer: \(failure)",
            remedy: "curl -k \(origin)/readyz", status: .unreachable)
    }

    private func wireForm(_ request: RelayRequest) -> HTTP2Request {
        var fields = HTTPFields()
        for (name, value) in request.fields { fields.append(name, value) }
        if !request.body.isEmpty, !request.fields.contains(where: { $0.name == "content-type" }) {
            fields.append("content-type", "application/json")
        }
        if let key { fields.append("authorization", "Bearer \(key)", indexing: .neverIndexed) }
        return HTTP2Request(
            method: request.method, scheme: origin.scheme.rawValue, authority: origin.authority,
            path: request.path, fields: fields, body: request.body)
    }
}

/// A streamed request. If the connection breaks, its methods throw as for an unreachable relay.
final class RelayStream: @unchecked Sendable {
    // Sendable: used on the loop's thread only, where commands run.

    private let stream: HTTP2ResponseStream
    private let lost: (HTTP2Failure) -> ProgramError

    init(_ stream: HTTP2ResponseStream, lost: @escaping (HTTP2Failure) -> ProgramError) {
        self.stream = stream
        self.lost = lost
    }

    /// A header field of the answer. Waits for the answer's head. Throws if the relay refuses the
    /// request.
    func field(_ name: String) async throws -> String? { try await head().fields[name] }

    /// The next part of the answer, or nil at its end. Throws if the relay refuses the request.
    func next() async throws -> [UInt8]? {
        _ = try await head()
        return try await heard { try await stream.next() }
    }

    private func head() async throws -> HTTP2ResponseStream.Head {
        let head = try await heard { try await stream.head() }
        guard !(200..<300).contains(head.status) else { return head }
        var body: [UInt8] = []
        while body.count < Self.problemBytesMax,
            let piece = try await heard({ try await stream.next() })
        {
            body += piece
        }
        throw RelayProblem(status: head.status, body: body).error(name: nil)
    }

    /// Maximum size of a problem's body in bytes.
    private static let problemBytesMax = 64 << 10

    func write(_ piece: [UInt8]) async throws { try await heard { try await stream.write(piece) } }

    private func heard<Value>(_ ask: () async throws -> Value) async throws -> Value {
        do { return try await ask() } catch let failure as HTTP2Failure { throw lost(failure) }
    }

    /// Ends the request's body.
    func finish() { stream.finish() }

    /// Stops the stream in both directions.
    func cancel() { stream.cancel() }
}
