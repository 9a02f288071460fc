import Testing
import TomboloAPNs
import TomboloCore
import TomboloHTTP

/// Servers that change their mind: stream limits, GOAWAY, refused streams.
struct APNsClientLimitsTests {
    private static let refusedStream: UInt32 = 7

    @Test func `a stream limit that falls to 1 is obeyed, and full speed comes back with it`()
        async throws
    {
        let server = try await withScript(streams: 200, latency: .milliseconds(1)) {
            server, exchange, number in
            switch number {
            case 1_000:
                exchange.connection.setMaxConcurrentStreams(1)
            case 1_400:
                server.mark()
            case 1_500:
                // A refused stream is the client's to send again; none is, once the limit is known.
                if server.mostOpen > 1 {
                    Issue.record("\(server.mostOpen) streams at a limit of 1")
                }
                exchange.connection.setMaxConcurrentStreams(200)
            default: break
            }
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await upstream.stream(4_000) { _ in "aa" }
            #expect(upstream.outcomes.count == 4_000)
            #expect(Set(upstream.outcomes.map(\.result)) == [.accepted])
            #expect(upstream.capacities.contains(200))
            let fallen = try #require(upstream.capacities.dropFirst(2).firstIndex(of: 1))
            #expect(upstream.capacities[fallen...].contains(200))
        }
        #expect(server.connections.count == 1)
    }

    @Test func `a connection that allows no stream goes, and another one takes its place`()
        async throws
    {
        let server = try await withScript(deadline: .seconds(2)) { _, exchange, number in
            if number == 2 { exchange.connection.setMaxConcurrentStreams(0) }
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await upstream.expectAccepted("aa")
            try await upstream.expectAccepted("aa")
            try await upstream.wait { upstream.capacities.last == 0 }
            // The connect deadline is half of a push's.
            try await upstream.wait { upstream.capacities.last == 1 }
            try await upstream.expectAccepted("aa")
        }
        #expect(server.connections.count == 2)
    }

    @Test func `a push that is there before its upstream runs waits for it`() async throws {
        try await withScript(beforeRun: { $0.send("aa") }) { _, exchange, _ in
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await upstream.wait { !upstream.outcomes.isEmpty }
            #expect(upstream.outcomes.map(\.result) == [.accepted])
        }
    }

    @Test func `a connection whose only stream waits for its answer stays`() async throws {
        let server = try await withScript(
            streams: 1, latency: .milliseconds(1_500), deadline: .seconds(2)
        ) { _, exchange, _ in
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await upstream.expectAccepted("aa")
            try await upstream.expectAccepted("aa")
        }
        #expect(server.connections.count == 1)
    }

    @Test func `a GOAWAY in the middle loses no push, and no push comes twice`() async throws {
        let server = try await withScript(streams: 100) { server, exchange, number in
            if number.isMultiple(of: 700) {
                exchange.connection.goAway(reason: [UInt8](#"{"reason":"Shutdown"}"#.utf8))
            }
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await upstream.stream(5_000) { _ in "aa" }
            #expect(Set(upstream.outcomes.map(\.result)) == [.accepted])
            #expect(Set(upstream.outcomes.map(\.push)).count == 5_000)
        }
        #expect(server.requests == 5_000)
        #expect(server.connections.count == 8)
    }

    @Test func `a connection that is drained before it served is told with Apple's reason`()
        async throws
    {
        try await withScript { _, exchange, _ in
            exchange.connection.goAway(
                reason: [UInt8](#"{"reason":"BadCertificate"}"#.utf8), lastStream: 0)
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            let reason = try #require(try await upstream.result(of: "aa").notSentReason)
            #expect(reason.contains("BadCertificate"))
            #expect(upstream.client.status.trouble == reason)
            // The back-off's second, and then some.
            try await upstream.wait(within: .seconds(4)) { upstream.capacities == [1, 0, 1] }
        }
    }

    @Test func `a refused stream goes again, and comes through`() async throws {
        let server = try await withScript { server, exchange, number in
            if number.isMultiple(of: 3) {
                exchange.reset(code: Self.refusedStream)
            } else {
                exchange.respond(200, HTTPFields(), [])
            }
        } upstream: { upstream in
            try await upstream.stream(600) { _ in "aa" }
            #expect(Set(upstream.outcomes.map(\.result)) == [.accepted])
        }
        #expect(server.requests > 600 && server.requests < 1_000)
    }

    @Test func `a server that refuses every stream is asked a bounded number of times`()
        async throws
    {
        let server = try await withScript { _, exchange, _ in
            exchange.reset(code: Self.refusedStream)
        } upstream: { upstream in
            let reason = try #require(try await upstream.result(of: "aa").notSentReason)
            #expect(reason.contains("refused"))
        }
        #expect(server.requests == APNsClient.attemptsMax)
    }

    @Test func `a push that no request can carry is a dead letter, not an attempt`() async throws {
        let server = try await withScript { _, exchange, _ in
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            guard
                case .rejected(400, let reason, .push, nil) = try await upstream.result(
                    of: "a a\r\n")
            else {
                Issue.record("\(upstream.outcomes)")
                return
            }
            #expect(reason.contains("path"))
            try await upstream.expectAccepted("aa")
        }
        #expect(server.requests == 1)
    }
}
