import Synchronization
import Testing
import TomboloHTTP
import TomboloLoop

/// HTTP/2 frame by frame: what no well-behaved client sends, and what a simulator needs.
@Suite struct `The server in HTTP 2` {
    @Test func `rapid resets end the connection, and the next one is served`() async throws {
        var limits = HTTPServerLimits()
        limits.resetsBurst = 50
        limits.resetsPerSecond = 1
        let most = Mutex((running: 0, most: 0))
        try await withServer(limits: limits) { exchange in
            most.withLock { counts in
                counts.running += 1
                counts.most = max(counts.most, counts.running)
            }
            await exchange.waitUntilPeerGone()
            most.withLock { $0.running -= 1 }
        } _: { server in
            let talker = try await server.connect()
            var bytes = RawHTTP2.preface
            for index in 0..<1000 {
                let stream = UInt32(2 * index + 1)
                bytes += RawHTTP2.request(stream)
                bytes += RawHTTP2.frame(RawHTTP2.reset, 0, stream, RawHTTP2.bytes(8))
            }
            talker.send(bytes)
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 4) == 11)
            _ = await talker.waitForEnd()
            talker.connection.abort()
        }
        #expect(most.withLock { $0.most } <= 2 * limits.streamsPerConnection)
        #expect(most.withLock { $0.running } == 0)
    }

    @Test func `fewer resets than the burst are forgiven`() async throws {
        try await withServer(answer: echo) { server in
            let talker = try await server.connect()
            var bytes = RawHTTP2.preface
            for index in 0..<100 {
                let stream = UInt32(2 * index + 1)
                bytes += RawHTTP2.post(stream)
                bytes += RawHTTP2.frame(RawHTTP2.reset, 0, stream, RawHTTP2.bytes(8))
            }
            talker.send(bytes + RawHTTP2.request(301))
            let answer = await talker.frame(RawHTTP2.data) { $0.stream == 301 }
            #expect(answer?.payload == Array("GET /".utf8))
            talker.connection.abort()
        }
    }

    @Test func `a flood of CONTINUATION frames ends the connection`() async throws {
        try await withServer(answer: echo) { server in
            let talker = try await server.connect()
            var bytes = RawHTTP2.preface + RawHTTP2.frame(RawHTTP2.headers, 1, 1, RawHTTP2.head())
            let field = RawHTTP2.head("GET", [("x", "y")]).suffix(5)
            for _ in 0..<2000 { bytes += RawHTTP2.frame(RawHTTP2.continuation, 0, 1, Array(field)) }
            talker.send(bytes)
            _ = await talker.waitForEnd()
            #expect(!talker.frames.contains { $0.type == RawHTTP2.headers })
            talker.connection.abort()
        }
    }

    @Test func `half a frame and an idle connection have their time`() async throws {
        var limits = HTTPServerLimits()
        limits.headTime = .milliseconds(60)
        limits.idleTime = .milliseconds(120)
        try await withServer(limits: limits, answer: echo) { server in
            let half = try await server.connect()
            half.send(RawHTTP2.preface + RawHTTP2.request(1).prefix(12))
            let end = await half.waitForEnd()
            #expect(end == .endedByPeer)
            #expect(!half.frames.contains { $0.type == RawHTTP2.goAway })
            half.connection.abort()
            let idle = try await server.connect()
            idle.send(RawHTTP2.preface + RawHTTP2.request(1))
            let goAway = await idle.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 4) == 0)
            #expect(idle.frames.contains { $0.type == RawHTTP2.data })
            _ = await idle.waitForEnd()
            idle.connection.abort()
        }
    }

    @Test func `a window opens only when the handler takes a piece`() async throws {
        let mayRead = Gate()
        try await withServer { exchange in
            await mayRead.wait()
            await count(exchange)
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + RawHTTP2.post(1))
            let settings = await talker.frame(RawHTTP2.settings)
            #expect(settings != nil)
            talker.send(RawHTTP2.frame(RawHTTP2.settings, 1, 0, []))
            let piece = [UInt8](repeating: 7, count: 16384)
            for _ in 0..<16 { talker.send(RawHTTP2.frame(RawHTTP2.data, 0, 1, piece)) }
            talker.send(RawHTTP2.frame(RawHTTP2.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]))
            _ = await talker.frame(RawHTTP2.ping)
            #expect(!talker.frames.contains { $0.type == RawHTTP2.windowUpdate && $0.stream == 1 })
            mayRead.open()
            let update = await talker.frame(RawHTTP2.windowUpdate) { $0.stream == 1 }
            #expect(update != nil)
            talker.send(RawHTTP2.frame(RawHTTP2.data, 1, 1, piece))
            let answer = await talker.frame(RawHTTP2.data)
            #expect(answer?.payload == Array("\(17 * 16384)".utf8))
            talker.connection.abort()
        }
    }

    @Test func `an answer before the body's end asks the client to stop`() async throws {
        try await withServer { exchange in
            exchange.respond(403, [:], Array("no".utf8))
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + RawHTTP2.post(1))
            let reset = await talker.frame(RawHTTP2.reset)
            #expect(reset?.number(at: 0) == 0)
            #expect(talker.frames.contains { $0.type == RawHTTP2.data && $0.flags & 1 == 1 })
            talker.connection.abort()
        }
    }

    @Test func `a reset of the client is told to its handler`() async throws {
        let seen = Mutex<HTTPExchangeError?>(nil)
        let hasSeen = Gate()
        try await withServer { exchange in
            do throws(HTTPExchangeError) {
                _ = try await exchange.nextPiece()
            } catch { seen.withLock { $0 = error } }
            hasSeen.open()
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + RawHTTP2.post(1))
            talker.send(RawHTTP2.frame(RawHTTP2.reset, 0, 1, RawHTTP2.bytes(8)))
            await hasSeen.wait()
            talker.connection.abort()
        }
        #expect(seen.withLock { $0 } == .peerGone)
    }

    @Test func `a handler can change the stream limit, reset a stream and send GOAWAY`()
        async throws
    {
        try await withServer { exchange in
            switch exchange.head.method {
            case "POST": exchange.reset(code: 7)
            default:
                exchange.connection.setMaxConcurrentStreams(3)
                exchange.respond(200, [:], [])
                exchange.connection.goAway(
                    code: 0, reason: Array("{\"reason\":\"Shutdown\"}".utf8), lastStream: 3)
            }
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + RawHTTP2.post(1))
            let reset = await talker.frame(RawHTTP2.reset)
            #expect(reset?.stream == 1)
            #expect(reset?.number(at: 0) == 7)
            talker.send(RawHTTP2.request(3))
            let settings = await talker.frame(RawHTTP2.settings) { $0.payload.count == 6 }
            #expect(settings?.payload == [0, 3, 0, 0, 0, 3])
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 0) == 3)
            #expect(goAway?.payload.dropFirst(8) == Array("{\"reason\":\"Shutdown\"}".utf8)[...])
            let end = await talker.waitForEnd()
            #expect(end == .endedByPeer)
            #expect(talker.frames.contains { $0.type == RawHTTP2.headers && $0.stream == 3 })
            talker.connection.abort()
        }
    }

    @Test func `a GOAWAY below an open stream drops it`() async throws {
        let wasLost = Mutex(false)
        try await withServer { exchange in
            if exchange.head.method == "POST" {
                await exchange.waitUntilPeerGone()
                wasLost.withLock { $0 = exchange.isPeerGone }
            } else {
                exchange.connection.goAway(code: 0, reason: [], lastStream: 0)
            }
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + RawHTTP2.post(1) + RawHTTP2.request(3))
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 0) == 0)
            _ = await talker.waitForEnd()
            talker.connection.abort()
        }
        #expect(wasLost.withLock { $0 })
    }
}
