import TestSupport
import TomboloHTTP
import TomboloLoop

/// Our own server in clear text, for what no other can be told to do: limits that change, GOAWAY in
/// the middle, streams refused.
///
/// `@unchecked Sendable`: used on the thread of the server's loop; looked at when that has ended.
final class ScriptedServer: HTTPHandler, @unchecked Sendable {
    typealias Script = @Sendable (ScriptedServer, HTTPExchange, Int) async -> Void

    /// Is told the request's number as well, from 1.
    private let script: Script
    private let latency: Duration
    private let loop: EpollLoop
    /// Requests so far, the one under way included.
    private(set) var requests = 0
    private(set) var connections: Set<UInt64> = []
    /// Requests that are open now, and the most there were since `mark()`.
    private(set) var open = 0
    private(set) var mostOpen = 0

    init(_ loop: EpollLoop, latency: Duration, _ script: @escaping Script) {
        self.loop = loop
        self.latency = latency
        self.script = script
    }

    func mark() { mostOpen = open }
    var moment: MonotonicInstant { loop.now }

    func handle(_ exchange: HTTPExchange) async {
        requests += 1
        let number = requests
        open += 1
        mostOpen = max(mostOpen, open)
        connections.insert(exchange.connection.id)
        // Cut short only by the end of the test.
        if latency > .zero { try? await loop.sleep(for: latency) }
        await script(self, exchange, number)
        open -= 1
    }

    func opened(_ connection: HTTPServerConnection) {}
    func closed(_ connection: HTTPServerConnection) {}
}

/// Runs an upstream against a server that follows `script`, each request `latency` after it came;
/// answers the server when both have ended.
@discardableResult
func withScript(
    streams: Int = 1_000, connections: Int = 1, latency: Duration = .zero,
    deadline: Duration = .seconds(10),
    beforeRun: @escaping @Sendable (Upstream) -> Void = { _ in },
    _ script: @escaping ScriptedServer.Script,
    upstream body: @escaping @Sendable (Upstream) async throws -> Void
) async throws -> ScriptedServer {
    try await onLoop { loop in
        let scripted = ScriptedServer(loop, latency: latency, script)
        var limits = HTTPServerLimits()
        limits.streamsPerConnection = streams
        limits.resetsBurst = 100_000
        let server = try HTTPServer(
            loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0), limits: limits,
            handler: scripted)
        let url = "http://\(server.address)"
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { try await server.run() }
            group.addTask {
                try await withUpstream(
                    url, connections: connections, deadline: deadline, beforeRun: beforeRun, body)
            }
            _ = try await group.next()
            group.cancelAll()
        }
        return scripted
    }
}
