import Testing
import TomboloHTTP
import TomboloLoop

/// Peers that make work and ask for nothing.
@Suite struct `The server under a flood` {
    private static var limits: HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.idleFramesBurst = 50
        limits.idleFramesPerSecond = 1
        return limits
    }

    private static let floods: [(String, [UInt8])] = [
        ("PING", RawHTTP2.frame(RawHTTP2.ping, 1, 0, [0, 0, 0, 0, 0, 0, 0, 0])),
        ("SETTINGS", RawHTTP2.frame(RawHTTP2.settings, 0, 0, [])),
        ("WINDOW_UPDATE", RawHTTP2.frame(RawHTTP2.windowUpdate, 0, 0, [0, 0, 0, 1])),
        ("PRIORITY", RawHTTP2.frame(2, 0, 3, [0, 0, 0, 0, 5])),
        ("an unknown type", RawHTTP2.frame(0xBB, 0, 0, [])),
    ]

    @Test(arguments: floods)
    func `frames without content end the connection beyond the burst`(
        _ name: String, _ frame: [UInt8]
    ) async throws {
        try await withServer(limits: Self.limits, answer: echo) { server in
            let talker = try await server.connect()
            // The SETTINGS of the preface are one of them.
            talker.send(RawHTTP2.preface + (0..<48).flatMap { _ in frame } + RawHTTP2.request(1))
            let answer = await talker.frame(RawHTTP2.data)
            #expect(answer?.payload == Array("GET /".utf8), "\(name)")
            talker.send((0..<60).flatMap { _ in frame })
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 4) == 11)
            _ = await talker.waitForEnd()
            #expect(server.server.cuts.count(of: .frames) == 1)
            talker.connection.abort()
        }
    }

    @Test func `empty DATA frames count, and parts of a body do not`() async throws {
        try await withServer(limits: Self.limits, answer: echo) { server in
            let talker = try await server.connect()
            let part = RawHTTP2.frame(RawHTTP2.data, 0, 1, [1])
            let end = RawHTTP2.frame(RawHTTP2.data, 1, 1, [])
            talker.send(RawHTTP2.preface + RawHTTP2.post(1) + (0..<200).flatMap { _ in part } + end)
            _ = await talker.frame(RawHTTP2.data)
            #expect(server.server.cuts.count(of: .frames) == 0)
            let empty = RawHTTP2.frame(RawHTTP2.data, 0, 3, [])
            talker.send(RawHTTP2.post(3) + (0..<80).flatMap { _ in empty })
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 4) == 11)
            talker.connection.abort()
        }
    }

    @Test func `a peer that asks and reads earns the frames it needs for it`() async throws {
        try await withServer(limits: Self.limits) { exchange in
            exchange.respond(200, [:], [UInt8](repeating: 7, count: 16_384))
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface)
            for index in 0..<100 {
                let stream = UInt32(2 * index + 1)
                let more = RawHTTP2.frame(RawHTTP2.windowUpdate, 0, 0, RawHTTP2.bytes(16_384))
                talker.send(more + more + RawHTTP2.request(stream))
                _ = await talker.frame(RawHTTP2.data) { $0.stream == stream && $0.flags & 1 == 1 }
            }
            #expect(talker.end == nil)
            #expect(server.server.cuts.count(of: .frames) == 0)
            talker.connection.abort()
        }
    }

    @Test func `an address may begin so many handshakes, and no more`() async throws {
        var limits = HTTPServerLimits()
        limits.handshakesBurst = 2
        limits.handshakesPerSecond = 1
        try await withServer(tls: true, limits: limits, answer: echo) { server in
            var talkers: [Talker] = []
            for _ in 0..<3 { talkers.append(try await server.connect()) }
            #expect(await talkers[2].waitForEnd() != nil)
            #expect(server.server.cuts.count(of: .handshakes) == 1)
            #expect(talkers[0].end == nil && talkers[1].end == nil)
            for talker in talkers { talker.connection.abort() }
        }
    }
}

/// What a peer may still do.
@Suite struct `An allowance` {
    @Test func `is spent, and fills at its rate up to the burst`() {
        let start = MonotonicInstant(nanoseconds: 5_000_000_000)
        var allowance = HTTPAllowance(burst: 3, perSecond: 2, now: start)
        #expect(allowance.isFull(now: start))
        var taken = [allowance.take(3, now: start), allowance.take(now: start)]
        taken.append(allowance.take(now: start + .milliseconds(499)))
        taken.append(allowance.take(now: start + .milliseconds(500)))
        #expect(taken == [true, false, false, true])
        allowance.earn(2)
        taken = [3, 2].map { allowance.take($0, now: start + .milliseconds(500)) }
        #expect(taken == [false, true])
        #expect(allowance.isFull(now: start + .seconds(60)))
        let isBeyond = allowance.take(4, now: start + .seconds(60))
        #expect(!isBeyond, "never more than the burst")
    }
}
