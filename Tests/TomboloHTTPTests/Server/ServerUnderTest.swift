import TestSupport
import TomboloHTTP
import TomboloLoop

/// A handler from a closure.
struct Answering: HTTPHandler {
    let answer: @Sendable (HTTPExchange) async -> Void

    func handle(_ exchange: HTTPExchange) async { await answer(exchange) }
}

/// A server that runs while a test talks to it, on the same loop.
struct ServerUnderTest: Sendable {
    let loop: EpollLoop
    let server: HTTPServer
    let authority: TestAuthority?
    let files: TemporaryFiles

    var port: Int { server.address.port }
    var origin: String { "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)" }

    /// What curl prints: the answer's body, then the version of HTTP and the status.
    func curl(_ path: String, _ arguments: [String]) async throws -> String {
        var trust: [String] = []
        if let authority {
            trust = ["--cacert", try files.write("ca.pem", authority.authority.certificate)]
        }
        let curl = try SubprocessOutput(
            "curl",
            ["-sS", "--max-time", "120", "-w", "|%{http_version} %{http_code}", origin + path]
                + trust + arguments, on: loop)
        return await curl.wait()
    }

    func run(_ program: String, _ arguments: [String]) async throws -> String {
        try await SubprocessOutput(program, arguments, on: loop).wait()
    }

    /// A raw connection in clear text.
    func connect() async throws -> Talker {
        let connection = try await Connection.dial(
            host: "127.0.0.1", port: port, tls: nil, on: loop, within: .seconds(20))
        let talker = Talker(connection, loop)
        connection.resumeReading()
        return talker
    }

    /// Everything the server says to these bytes until it closes.
    func answer(to text: String) async throws -> String {
        let talker = try await connect()
        talker.send(Array(text.utf8))
        _ = await talker.waitForEnd()
        talker.connection.abort()
        return String(decoding: talker.received, as: UTF8.self)
    }
}

/// Runs `body` against a server that answers with `answer`; then drains it.
func withServer(
    tls: Bool = false, limits: HTTPServerLimits = HTTPServerLimits(), unixTime: Int64? = nil,
    answer: @escaping @Sendable (HTTPExchange) async -> Void,
    _ body: @escaping @Sendable (ServerUnderTest) async throws -> Void
) async throws {
    try await withServer(
        tls: tls, limits: limits, unixTime: unixTime, handler: Answering(answer: answer), body)
}

func withServer(
    tls: Bool = false, limits: HTTPServerLimits = HTTPServerLimits(), unixTime: Int64? = nil,
    handler: any HTTPHandler,
    _ body: @escaping @Sendable (ServerUnderTest) async throws -> Void
) async throws {
    let authority = tls ? try TestAuthority() : nil
    let files = try TemporaryFiles()
    defer { files.remove() }
    try await onLoop { loop in
        let server = try HTTPServer(
            loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0), tls: authority?.server,
            limits: limits, unixTime: unixTime.map { time -> @Sendable () -> Int64 in { time } },
            handler: handler)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { try await server.run() }
            try await body(
                ServerUnderTest(loop: loop, server: server, authority: authority, files: files))
            await server.drain(within: .seconds(5))
            try await group.waitForAll()
        }
    }
}

/// Answers with what came: the body, or method and target where there is none.
@Sendable func echo(_ exchange: HTTPExchange) async {
    do {
        let body = try await exchange.body(atMost: 1 << 24)
        let text = "\(exchange.head.method) \(exchange.head.target)"
        exchange.respond(
            200, ["content-type": "text/plain"], body.isEmpty ? Array(text.utf8) : body)
    } catch {
        // The server answers for us.
    }
}

/// Counts a body without keeping it, and tells the number.
@Sendable func count(_ exchange: HTTPExchange) async {
    var count = 0
    do {
        while let piece = try await exchange.nextPiece() { count += piece.count }
        exchange.respond(200, [:], Array("\(count)".utf8))
    } catch {
        // The server answers for us.
    }
}
