import Synchronization
import Testing
import TomboloHTTP
import TomboloLoop

@Suite struct `Draining the server` {
    /// Answers `/wait` once the gate opens, everything else at once.
    private func answering(_ gate: Gate, begun: Gate) -> @Sendable (HTTPExchange) async -> Void {
        { exchange in
            if exchange.head.method == "POST" {
                begun.open()
                await gate.wait()
            }
            exchange.respond(200, [:], Array("done".utf8))
        }
    }

    @Test func `in HTTP 1.1 what was accepted is finished, and idle connections end`() async throws
    {
        let (gate, begun) = (Gate(), Gate())
        try await withServer(answer: answering(gate, begun: begun)) { server in
            let idle = try await server.connect()
            idle.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            _ = await idle.receive(count: 40)
            let busy = try await server.connect()
            busy.send(Array("POST /wait HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            await begun.wait()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: server.loop) {
                    await server.server.drain(within: .seconds(10))
                }
                let idleEnd = await idle.waitForEnd()
                #expect(idleEnd == .endedByPeer)
                #expect(busy.received.isEmpty)
                await #expect(throws: ConnectionError.self) { _ = try await server.connect() }
                gate.open()
                _ = await busy.waitForEnd()
                let answer = String(decoding: busy.received, as: UTF8.self)
                #expect(answer.contains("connection: close"))
                #expect(answer.hasSuffix("done"))
                busy.connection.abort()
                idle.connection.abort()
                try await group.waitForAll()
            }
            #expect(server.server.connectionCount == 0)
        }
    }

    @Test func `in HTTP 2 a warning, a round trip, the last word, then the answers`() async throws {
        let (gate, begun) = (Gate(), Gate())
        try await withServer(answer: answering(gate, begun: begun)) { server in
            let busy = try await server.connect()
            busy.send(
                RawHTTP2.preface
                    + RawHTTP2.frame(RawHTTP2.headers, 5, 1, [0x83, 0x86, 0x84, 1, 1, 0x61]))
            await begun.wait()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: server.loop) {
                    await server.server.drain(within: .seconds(10))
                }
                let warning = await busy.frame(RawHTTP2.goAway)
                #expect(warning?.number(at: 0) == 0x7FFF_FFFF)
                let ping = await busy.frame(RawHTTP2.ping)
                // A request that was on its way is still taken.
                busy.send(
                    RawHTTP2.request(3)
                        + RawHTTP2.frame(RawHTTP2.ping, 1, 0, ping?.payload ?? []))
                let word = await busy.frame(RawHTTP2.goAway) { $0.number(at: 0) == 3 }
                #expect(word != nil)
                gate.open()
                _ = await busy.waitForEnd()
                for stream: UInt32 in [1, 3] {
                    #expect(
                        busy.frames.contains { $0.type == RawHTTP2.data && $0.stream == stream })
                }
                busy.connection.abort()
                try await group.waitForAll()
            }
        }
    }

    @Test func `what does not end in time is cut, and its handler is told`() async throws {
        let wasTold = Mutex(false)
        let begun = Gate()
        try await withServer { exchange in
            begun.open()
            await exchange.waitUntilPeerGone()
            wasTold.withLock { $0 = exchange.isPeerGone }
        } _: { server in
            let talker = try await server.connect()
            talker.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            await begun.wait()
            await server.server.drain(within: .milliseconds(50))
            #expect(server.server.connectionCount == 0)
            talker.connection.abort()
        }
        #expect(wasTold.withLock { $0 })
    }
}
