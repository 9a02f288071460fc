import Testing

@testable import TomboloHTTP

/// Heads that are small on the wire and large once they are decoded.
@Suite struct `The server and fields of HTTP 2` {
    private static func connection(ends bytes: [UInt8], code: UInt32) async throws {
        try await withServer(answer: echo) { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + bytes)
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 4) == code)
            #expect(await talker.waitForEnd() == .endedByPeer)
            #expect(!talker.frames.contains { $0.type == RawHTTP2.headers })
            talker.connection.abort()
        }
    }

    /// A field that enters the table (RFC 7541, 6.2.1): 62 is its index afterwards.
    private static func stored(_ name: String) -> [UInt8] {
        [0x40, UInt8(name.utf8.count)] + Array(name.utf8) + [1, 0x61]
    }

    private static let entry62: UInt8 = 0xBE

    @Test(arguments: ["x", "x y"])
    func `a block that names one entry of the table 16,000 times ends the connection`(
        _ name: String
    ) async throws {
        let entries = [UInt8](repeating: Self.entry62, count: 16_000)
        let block = RawHTTP2.head() + Self.stored(name) + entries
        try await Self.connection(ends: RawHTTP2.frame(RawHTTP2.headers, 5, 1, block), code: 11)
    }

    @Test func `trailers that name one entry of the table 16,000 times end the connection`()
        async throws
    {
        let trailers = Self.stored("x") + [UInt8](repeating: Self.entry62, count: 16_000)
        try await Self.connection(
            ends: RawHTTP2.post(1) + RawHTTP2.frame(RawHTTP2.headers, 5, 1, trailers), code: 11)
    }

    @Test func `a head of 16 KiB is taken, and one byte more is answered with 431`() async throws {
        // Four pseudo fields and `x` cost 32 bytes each and their characters.
        let others = 32 * 5 + ":methodGET:schemehttp:path/:authoritya".utf8.count + 1
        func request(_ size: Int) -> [UInt8] {
            let value = String(repeating: "v", count: size - others)
            let block = RawHTTP2.head("GET", [("x", value)])
            return RawHTTP2.frame(RawHTTP2.headers, 1, 1, Array(block.prefix(16_000)))
                + RawHTTP2.frame(RawHTTP2.continuation, 4, 1, Array(block.dropFirst(16_000)))
        }
        try await Self.isTaken(request(16_384))
        try await Self.isRefused(request(16_385), "fields-too-large")
    }

    @Test func `64 fields are taken, and one more is answered with 431`() async throws {
        func request(_ count: Int) -> [UInt8] {
            let fields = (0..<count).map { ("x\($0)", "v") }
            return RawHTTP2.frame(RawHTTP2.headers, 5, 1, RawHTTP2.head("GET", fields))
        }
        try await Self.isTaken(request(64))
        try await Self.isRefused(request(65), "too-many-fields")
        try await Self.connection(ends: request(257), code: 11)
    }

    /// With 431, and the connection goes on.
    private static func isRefused(_ request: [UInt8], _ code: String) async throws {
        try await withServer(answer: echo) { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + request + RawHTTP2.request(3))
            let problem = await talker.frame(RawHTTP2.data) { $0.stream == 1 }
            let text = String(decoding: problem?.payload ?? [], as: UTF8.self)
            #expect(text.contains("\"status\":431,\"code\":\"\(code)\""), "\(text)")
            let answer = await talker.frame(RawHTTP2.headers) { $0.stream == 3 }
            #expect(answer?.payload.first == 0x88)
            talker.connection.abort()
        }
    }

    private static func isTaken(_ request: [UInt8]) async throws {
        try await withServer(answer: echo) { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + request)
            let answer = await talker.frame(RawHTTP2.headers)
            #expect(answer?.payload.first == 0x88)
            talker.connection.abort()
        }
    }

    @Test func `fields are counted up to each limit, and not beyond`() {
        func taken(_ fields: [(characters: Int, isPseudo: Bool)]) -> [Bool] {
            var count = HTTP2FieldCount()
            return fields.map { count.add($0.characters, isPseudo: $0.isPseudo) }
        }
        let sixtyFour = [(characters: Int, isPseudo: Bool)](repeating: (2, false), count: 64)
        #expect(taken(sixtyFour + [(2, true)]).allSatisfy { $0 })
        #expect(taken(sixtyFour + [(2, false)]).last == false)
        #expect(taken([(16_384 - 32, false)]) == [true])
        #expect(taken([(16_384 - 31, false)]) == [false])
    }

    @Test func `a head beyond a limit is refused, and a flood has no answer`() {
        func refusal(_ fields: Int, _ characters: Int) -> HTTP1Refusal? {
            var count = HTTP2FieldCount()
            for _ in 0..<fields { _ = count.add(characters, isPseudo: false) }
            return count.refusal
        }
        #expect(refusal(65, 2) == .tooManyFields)
        #expect(refusal(256, 2) == .tooManyFields)
        #expect(refusal(257, 2) == nil)
        #expect(refusal(1, 16_384) == .fieldsTooLarge)
        #expect(refusal(1, 4 * 16_384 - 32) == .fieldsTooLarge)
        #expect(refusal(1, 4 * 16_384) == nil)
    }

    @Test func `a field whose name no RFC allows is refused with 400`() async throws {
        try await withServer(answer: echo) { server in
            let talker = try await server.connect()
            let block = RawHTTP2.head() + Self.stored("x y")
            talker.send(RawHTTP2.preface + RawHTTP2.frame(RawHTTP2.headers, 5, 1, block))
            let answer = await talker.frame(RawHTTP2.headers)
            #expect(answer?.payload.first == 0x8C)
            talker.connection.abort()
        }
    }

    @Test func `requests above the announced limit are refused, and a flood of them ends it`()
        async throws
    {
        var limits = HTTPServerLimits()
        limits.streamsPerConnection = 1
        limits.resetsBurst = 10
        limits.resetsPerSecond = 1
        try await withServer(limits: limits) { exchange in
            await exchange.waitUntilPeerGone()
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface)
            // Without its acknowledgement, the limit may not be known to the peer.
            _ = await talker.frame(RawHTTP2.settings)
            func requests(_ streams: Range<UInt32>) -> [UInt8] {
                streams.flatMap { RawHTTP2.request(2 * $0 + 1) }
            }
            talker.send(requests(0..<11))
            let last = await talker.frame(RawHTTP2.reset) { $0.stream == 21 }
            #expect(last?.number(at: 0) == 7)
            #expect(!talker.frames.contains { $0.type == RawHTTP2.goAway })
            talker.send(requests(11..<40))
            let goAway = await talker.frame(RawHTTP2.goAway)
            #expect(goAway?.number(at: 4) == 11)
            _ = await talker.waitForEnd()
            talker.connection.abort()
        }
    }

    @Test(arguments: [(0, 5, 1), (3, 4, 6)] as [(UInt32, Int, UInt32)])
    func `PRIORITY that breaks RFC 9113 ends the connection`(
        _ stream: UInt32, _ length: Int, _ code: UInt32
    ) async throws {
        let payload = [UInt8](repeating: 0, count: length)
        try await Self.connection(ends: RawHTTP2.frame(2, 0, stream, payload), code: code)
    }

    @Test func `PRIORITY on a stream is ignored`() async throws {
        try await Self.isTaken(
            RawHTTP2.frame(2, 0, 3, [0, 0, 0, 0, 5]) + RawHTTP2.request(1))
    }
}
