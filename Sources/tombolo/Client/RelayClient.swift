import TomboloCore
import TomboloHTTP
import TomboloLoop

/// A connection to a relay, over HTTP/2. On the loop only.
final class RelayClient: @unchecked Sendable {
    // Sendable: used on the loop's thread only, where commands run.

    private let connection: HTTP2Client
    private let origin: Origin
    private let key: String?
    private let loop: EpollLoop

    private init(_ connection: HTTP2Client, origin: Origin, key: String?, loop: EpollLoop) {
        self.connection = connection
        self.origin = origin
        self.key = key
        self.loop = loop
    }

    /// How long the relay may take to accept a connection.
    static let connectTimeout = Duration.seconds(10)
    /// How long one answer may take; a `Prefer: wait` is shorter.
    static let answerTimeout = Duration.seconds(60)

    /// Connects to the relay that `--relay`, `--key` and `--ca` name.
    static func connect(_ context: CommandContext) async throws -> RelayClient {
        let invocation = context.invocation
        guard let origin = invocation.origin(.relay) else {
            throw ProgramError.usage("no --relay", remedy: "tombolo help \(invocation.commandName)")
        }
        return try await connect(
            to: origin, key: invocation.text(.key), caFile: invocation.text(.caFile),
            loop: context.loop)
    }

    static func connect(
        to origin: Origin, key: String?, caFile: String?, loop: EpollLoop
    ) async throws -> RelayClient {
        let tls = try TLSClientConfiguration(origin, caFile: caFile)
        do {
            let connection = try await HTTP2Client.connect(
                HTTP2Endpoint(origin), tls: tls, loop: loop, deadline: connectTimeout)
            return RelayClient(connection, origin: origin, key: key, loop: loop)
        } catch let error as HTTP2ConnectError {
            throw ProgramError(
                "no relay at \(origin): \(error)",
                remedy: "start one: tombolo dev, or name it: --relay ORIGIN", status: .unreachable)
        }
    }

    func close() { connection.close() }

    /// Sends a request and waits for its whole answer. Throws the relay's refusal as an error; `name` is
    /// what its fix talks about.
    func send(_ request: RelayRequest, name: String?) async throws -> RelayAnswer {
        switch await connection.perform(request2(request), deadline: Self.answerTimeout) {
        case .answered(let answer):
            guard (200..<300).contains(answer.status) else {
                throw RelayProblem(status: answer.status, body: answer.body).error(name: name)
            }
            return RelayAnswer(status: answer.status, body: answer.body)
        case .notProcessed(let failure), .unknown(let failure):
            throw lost(failure)
        }
    }

    /// Opens a request whose answer, and perhaps whose body, is a stream.
    func open(_ request: RelayRequest) async throws -> HTTP2ResponseStream {
        try await connection.open(request2(request))
    }

    func lost(_ failure: some Any) -> ProgramError {
        ProgramError(
            "the relay at \(origin) did not answer: \(failure)",
            remedy: "see whether it runs: curl \(origin)/readyz", status: .unreachable)
    }

    private func request2(_ request: RelayRequest) -> HTTP2Request {
        var fields: [HTTP2Field] = request.fields.map { HTTP2Field($0.name, $0.value) }
        if let key { fields.append(HTTP2Field("authorization", "Bearer \(key)", .neverIndexed)) }
        return HTTP2Request(
            method: request.method, scheme: origin.scheme.rawValue, authority: origin.authority,
            path: request.path, fields: fields, body: request.body)
    }
}
