import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

/// What a peer may do to a client, and which class each request ends in.
@Suite struct HTTP2ClientFaultTests {
    /// `count` requests to a server that does `act` when all of them are there; their classes in
    /// order.
    private func classes(
        of count: Int = 3, limits: HTTP2ClientLimits = HTTP2ClientLimits(),
        when act: @escaping @Sendable (ScriptedConnection) -> Void
    ) async throws -> (kinds: [String], state: HTTP2ClientState) {
        try await onLoop { loop in
            let server = try ScriptedServer(loop) { connection, _ in
                if connection.requests.values.count(where: \.hasEnded) == count { act(connection) }
            }
            let client = try await server.connect(limits: limits)
            let log = OutcomeLog(loop)
            for tag in 0..<count { client.submit(.post(), to: log, tag: UInt64(tag)) }
            await log.wait(for: count)
            #expect(log.twice.isEmpty)
            let state = client.state
            client.close()
            server.listener.close()
            return ((0..<count).map { log.kind(UInt64($0)) }, state)
        }
    }

    @Test func `a GOAWAY's last id parts what goes on from what was not processed`() async throws {
        let result = try await classes { connection in
            connection.goAway(last: 3, debug: #"{"reason":"Shutdown"}"#)
            connection.respond(1, 200)
            connection.respond(3, 410)
        }
        #expect(result.kinds == ["200", "410", "not processed"])
        guard case .closed(.goneAway(let goAway)) = result.state else {
            Issue.record("\(result.state)")
            return
        }
        #expect(String(decoding: goAway.debugData, as: UTF8.self) == #"{"reason":"Shutdown"}"#)
    }

    @Test func `a GOAWAY with last id 0 leaves nothing processed`() async throws {
        let result = try await classes { $0.goAway(last: 0, code: 11) }
        #expect(result.kinds == ["not processed", "not processed", "not processed"])
    }

    @Test func `a second GOAWAY with a lower id takes more back`() async throws {
        let result = try await classes { connection in
            connection.goAway(last: .max)
            connection.goAway(last: 1)
            connection.respond(1, 200)
        }
        #expect(result.kinds == ["200", "not processed", "not processed"])
    }

    @Test func `what waits behind the limit is not processed when a GOAWAY comes`() async throws {
        try await withScript(settings: [(3, 10)]) { loop, server, client in
            let log = OutcomeLog(loop)
            server.onRequest = { connection, request in
                guard request.streamID == 1 else { return }
                connection.goAway(last: 1)
            }
            for tag in 0..<3 { client.submit(.post(), to: log, tag: UInt64(tag)) }
            await log.wait(for: 2)
            #expect(log.kind(1) == "not processed")
            #expect(log.kind(2) == "not processed")
            #expect(client.capacity == 0)
            client.submit(.post(), to: log, tag: 3)
            server.connections[0].respond(1, 200)
            await log.wait(for: 4)
            #expect(log.kind(0) == "200")
            #expect(log.kind(3) == "not processed")
        }
    }

    @Test func `REFUSED_STREAM is not processed, any other reset unknown`() async throws {
        let result = try await classes(of: 15) { connection in
            for code in 0..<14 { connection.reset(Int32(2 * code + 1), UInt32(code)) }
            connection.reset(29, 0x7777)
        }
        for (code, kind) in result.kinds.enumerated() {
            #expect(kind == (code == 7 ? "not processed" : "unknown"), "code \(code)")
        }
        #expect(result.state == .open)
    }

    @Test func `an answer that came whole counts, even when a reset follows`() async throws {
        let result = try await classes { connection in
            connection.respond(1, 200)
            connection.reset(3, 8)
            connection.respond(5, 400, body: Array(#"{"reason":"BadPath"}"#.utf8))
        }
        #expect(result.kinds == ["200", "unknown", "400"])
    }

    @Test func `an early answer counts before the body is through`() async throws {
        try await withScript(settings: [(4, 1_000)], answer: { _, _ in }) { loop, server, client in
            let log = OutcomeLog(loop)
            client.submit(.post(body: [UInt8](repeating: 1, count: 100_000)), to: log, tag: 0)
            let connection = server.connections[0]
            connection.readsBodies = false
            while connection.requests[1]?.body.count != 1_000 {
                try await loop.sleep(for: .milliseconds(1))
            }
            connection.respond(1, 413)
            await log.wait(for: 1)
            #expect(log.kind(0) == "413")
            while connection.resets[1] == nil { try await loop.sleep(for: .milliseconds(1)) }
            #expect(client.state == .open)
        }
    }

    @Test func `a cut connection leaves what was written unknown, and the client closed`()
        async throws
    {
        let result = try await classes { $0.connection.abort() }
        #expect(result.kinds == ["unknown", "unknown", "unknown"])
        guard case .closed(.connectionLost) = result.state else {
            Issue.record("\(result.state)")
            return
        }
    }

    @Test func `what the kernel never took is not processed when the connection is cut`()
        async throws
    {
        try await withScript(settings: [(3, 1_000), (4, 1 << 30)]) { loop, server, client in
            let log = OutcomeLog(loop)
            let connection = server.connections[0]
            connection.connection.pauseReading()
            let body = [UInt8](repeating: 1, count: 60_000)
            for tag in 0..<500 { client.submit(.post(body: body), to: log, tag: UInt64(tag)) }
            for tag in 500..<600 { client.submit(.get(), to: log, tag: UInt64(tag)) }
            try await loop.sleep(for: .milliseconds(20))
            connection.connection.abort()
            await log.wait(for: 600)
            let kinds = (0..<600).map { log.kind(UInt64($0)) }
            // Heads go before bodies, so all heads may be out; the first one surely is.
            #expect(kinds.first == "unknown")
            #expect(kinds.allSatisfy { $0 == "unknown" || $0 == "not processed" })
        }
    }

    @Test func `a peer that violates the protocol is left, and open requests are unknown`()
        async throws
    {
        let result = try await classes { connection in
            // DATA on stream 0.
            connection.writeRaw([0, 0, 1, 0, 0, 0, 0, 0, 0, 65])
        }
        #expect(result.kinds == ["unknown", "unknown", "unknown"])
    }

    @Test func `the answer's body is taken up to the limit and not a byte further`() async throws {
        var limits = HTTP2ClientLimits()
        limits.answerBodyBytesMax = 70_000
        let result = try await classes(of: 2, limits: limits) { connection in
            connection.respond(1, 200, body: [UInt8](repeating: 1, count: 70_000))
            connection.respond(3, 200, body: [UInt8](repeating: 1, count: 70_001))
        }
        #expect(result.kinds == ["200", "unknown"])
        #expect(result.state == .open)
    }

    @Test func `an answer larger than a stream's window is taken whole`() async throws {
        var limits = HTTP2ClientLimits()
        limits.answerBodyBytesMax = 1 << 20
        limits.requestTimeout = .seconds(120)
        let window = limits.streamWindowBytes
        let result = try await classes(of: 2, limits: limits) { connection in
            connection.respond(1, 200, body: [UInt8](repeating: 1, count: 1 << 20))
            connection.respond(3, 200, body: [UInt8](repeating: 1, count: window))
        }
        #expect(result.kinds == ["200", "200"])
    }

    @Test func `an answer's fields are taken up to 64 and not one further`() async throws {
        let result = try await classes(of: 3) { connection in
            let fields = (0..<65).map { ("x-\($0)", "v") }
            connection.respond(1, 200, fields: Array(fields.dropLast()))
            connection.respond(3, 200, fields: fields)
            connection.respond(5, 200, fields: [("x", String(repeating: "v", count: 16_384))])
        }
        #expect(result.kinds == ["200", "unknown", "unknown"])
        #expect(result.state == .open)
    }

    @Test func `an interim answer is passed over`() async throws {
        let result = try await classes(of: 1) { connection in
            connection.inform(1, 103)
            connection.inform(1, 100)
            connection.respond(1, 204)
        }
        #expect(result.kinds == ["204"])
    }

    @Test func `trailers are passed over`() async throws {
        let result = try await classes(of: 1) { connection in
            connection.respond(1, 200, body: [1], trailers: [("grpc-status", "0"), ("x", "y")])
        }
        #expect(result.kinds == ["200"])
    }

    @Test func `a request without answer is given up at its deadline and reset`() async throws {
        var limits = HTTP2ClientLimits()
        limits.tick = .milliseconds(5)
        try await withScript(limits: limits, answer: { _, _ in }) { loop, server, client in
            let start = loop.now
            let outcome = await client.perform(.get(), timeout: .milliseconds(20))
            #expect(outcome == .unknown(.deadline))
            #expect(loop.now - start >= .milliseconds(20))
            while server.connections[0].resets[1] == nil {
                try await loop.sleep(for: .milliseconds(1))
            }
            #expect(client.openCount == 0)
            #expect(client.state == .open)
        }
    }

    @Test func `a cancelled task gives its request up`() async throws {
        try await withScript(answer: { _, _ in }) { _, server, client in
            let outcome = await withTaskGroup(of: HTTP2Outcome.self) { group in
                group.addTask { await client.perform(.get(), timeout: .seconds(60)) }
                while server.connections[0].requests.isEmpty { await Task.yield() }
                group.cancelAll()
                return await group.next()
            }
            #expect(outcome == .unknown(.closedHere))
        }
    }

    @Test func `a peer that says nothing any more is found by PING`() async throws {
        try await onLoop { loop in
            let server = try ScriptedServer(loop) { connection, _ in
                // From now on nothing is read: as on a way that is cut without a word.
                connection.connection.pauseReading()
            }
            var limits = HTTP2ClientLimits()
            limits.tick = .milliseconds(5)
            limits.pingAfterSilence = .milliseconds(20)
            limits.pingTimeout = .milliseconds(20)
            let client = try await server.connect(limits: limits)
            let outcome = await client.perform(.get(), timeout: .seconds(60))
            #expect(outcome == .unknown(.unresponsive))
            #expect(client.state == .closed(.unresponsive))
            server.listener.close()
        }
    }

    @Test func `an idle peer is asked by PING and stays`() async throws {
        var limits = HTTP2ClientLimits()
        limits.pingWhenIdle = .milliseconds(10)
        try await withScript(limits: limits) { loop, server, client in
            while server.connections[0].pings < 3 { try await loop.sleep(for: .milliseconds(1)) }
            #expect(client.state == .open)
        }
    }
}
