import Synchronization
import Testing
import TomboloLoop

@testable import TomboloHTTP

/// What a peer that does not read, or sends and never ends, makes the server hold.
@Suite struct `The server's memory` {
    private static let window0 = RawHTTP2.frame(RawHTTP2.settings, 0, 0, [0, 4, 0, 0, 0, 0])

    private static func requests(_ count: Int) -> [UInt8] {
        (0..<UInt32(count)).flatMap { RawHTTP2.request(2 * $0 + 1) }
    }

    /// The status of each answer's head, as HPACK's static table has it (RFC 7541, A).
    private static func statuses(_ talker: Talker) -> [UInt8] {
        talker.frames.filter { $0.type == RawHTTP2.headers }.compactMap(\.payload.first)
    }

    @Test func `a connection that reads nothing gets answers up to its limit, then 429`()
        async throws
    {
        var limits = HTTPServerLimits()
        limits.unreadBytesPerConnection = 30_000
        try await withServer(limits: limits) { exchange in
            exchange.respond(200, [:], [UInt8](repeating: 1, count: 10_000))
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + Self.window0 + Self.requests(4))
            while Self.statuses(talker).count < 4 {
                _ = await talker.receive(count: talker.received.count + 1)
            }
            // The first three fit; the fourth is one byte more than the limit.
            #expect(Self.statuses(talker).prefix(3) == [0x88, 0x88, 0x88])
            #expect(Self.statuses(talker)[3] != 0x88)
            talker.connection.abort()
        }
    }

    @Test func `an answer that waits is kept up to the connection's limit, and to that of all`()
        async throws
    {
        var limits = HTTPServerLimits()
        limits.unreadBytesPerConnection = 30_000
        let kept = Mutex<[Bool]>([])
        try await withServer(limits: limits) { exchange in
            let piece = [UInt8](repeating: 1, count: 10_000)
            let all = (0..<4).map { _ in exchange.keep(piece) }
            kept.withLock { $0 = all }
            exchange.respond(200, [:], exchange.takeKept())
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + Self.window0 + Self.requests(1))
            while Self.statuses(talker).isEmpty {
                _ = await talker.receive(count: talker.received.count + 1)
            }
            #expect(Self.statuses(talker) == [0x88])
            talker.connection.abort()
        }
        #expect(kept.withLock { $0 } == [true, true, true, false])
        let memory = HTTPServerMemory(bytesMax: 1_000)
        let (one, other) = (HTTPConnectionMemory(memory), HTTPConnectionMemory(memory))
        let takes = [
            one.keep(30, atMost: 50), other.keep(20, atMost: 50), other.keep(1, atMost: 50),
        ]
        #expect(takes == [true, true, false])
        one.releaseKept(30)
        let fits = other.keep(30, atMost: 50)
        #expect(fits && memory.bytes == 50 && other.unreadBytes == 50)
        other.close()
        let isFree = one.keep(50, atMost: 50)
        #expect(isFree && memory.bytes == 50)
    }

    @Test func `a constant body costs nothing, however often it is unread`() async throws {
        var limits = HTTPServerLimits()
        limits.unreadBytesPerConnection = 10_000
        limits.bytesHeldMax = 10_000
        let constant = [UInt8](repeating: 1, count: 100_000)
        try await withServer(limits: limits) { exchange in
            exchange.respond(200, [:], constant, isShared: true)
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + Self.window0 + Self.requests(128))
            while Self.statuses(talker).count < 128 {
                _ = await talker.receive(count: talker.received.count + 1)
            }
            #expect(Self.statuses(talker).allSatisfy { $0 == 0x88 })
            talker.connection.abort()
        }
    }

    @Test func `beyond the limit of all, the connection that holds most is cut`() async throws {
        var limits = HTTPServerLimits()
        limits.bytesHeldMax = 30_000
        try await withServer(limits: limits) { exchange in
            exchange.respond(200, [:], [UInt8](repeating: 1, count: 10_000))
        } _: { server in
            func answered(_ count: Int) async throws -> Talker {
                let talker = try await server.connect()
                talker.send(RawHTTP2.preface + Self.window0 + Self.requests(count))
                while Self.statuses(talker).count < count {
                    _ = await talker.receive(count: talker.received.count + 1)
                }
                return talker
            }
            let small = try await answered(1)
            let large = try await answered(2)
            let last = try await answered(1)
            #expect(await large.waitForEnd() != nil)
            #expect(small.end == nil)
            #expect(last.end == nil)
            for talker in [small, large, last] { talker.connection.abort() }
        }
    }

    @Test func `bodies that never end are bounded in all`() async throws {
        var limits = HTTPServerLimits()
        limits.bytesHeldMax = 100_000
        try await withServer(limits: limits, answer: echo) { server in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
            let talker = try await server.connect()
            talker.send(Array(head.utf8) + [UInt8](repeating: 1, count: 200_000))
            #expect(await talker.waitForEnd() != nil)
            #expect(talker.received.isEmpty)
            talker.connection.abort()
            // What was held is given back.
            let post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            let next = try await server.answer(to: post + "Content-Length: 2\r\n\r\nok")
            #expect(next.hasSuffix("\r\n\r\nok"))
        }
    }

    @Test func `a byte of window now and then does not hold an answer`() async throws {
        var limits = HTTPServerLimits()
        limits.writeStall = .milliseconds(200)
        try await withServer(limits: limits) { exchange in
            exchange.respond(200, [:], [UInt8](repeating: 1, count: 10_000))
        } _: { server in
            let talker = try await server.connect()
            talker.send(RawHTTP2.preface + Self.window0 + RawHTTP2.request(1))
            while !talker.frames.contains(where: { $0.type == RawHTTP2.reset }) {
                talker.send(RawHTTP2.frame(RawHTTP2.windowUpdate, 0, 1, RawHTTP2.bytes(1)))
                try await server.loop.sleep(for: .milliseconds(20))
            }
            #expect(talker.frames.count { $0.type == RawHTTP2.data } > 2)
            talker.connection.abort()
        }
    }

    @Test func `what is held is counted in and out`() {
        let all = HTTPServerMemory(bytesMax: 100)
        let calls = Mutex(0)
        all.exceeded = { calls.withLock { $0 += 1 } }
        let (one, other) = (HTTPConnectionMemory(all), HTTPConnectionMemory(all))
        one.holdAnswer(60)
        other.holdBody(40)
        #expect(all.bytes == 100)
        #expect(calls.withLock { $0 } == 0)
        other.holdBody(1)
        #expect(calls.withLock { $0 } == 1)
        one.releaseAnswer(1_000)
        #expect(one.bytes == 0)
        #expect(all.bytes == 41)
        other.close()
        other.releaseBody(41)
        #expect(all.bytes == 0)
        #expect(other.bytes == 0)
    }

    @Test func `pieces of a body are joined, and come out whole`() {
        var queue = HTTPBodyQueue()
        for index in 0..<20_000 { queue.append([UInt8(index & 0xFF)]) }
        #expect(queue.bytesHeld == 20_000)
        #expect(queue.takePiece()?.count == 16_384)
        #expect(queue.takePiece()?.count == 20_000 - 16_384)
        #expect(queue.takePiece() == nil)
    }

    @Test(arguments: [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::1", true),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("127.0.0.1", "127.0.0.2", false), ("10.0.0.1", "10.0.0.1", true),
    ])
    func `a client is one address, or a network of 64 bits`(
        _ one: String, _ other: String, _ isSame: Bool
    ) {
        let networks = (SocketAddress.network(ofHost: one), SocketAddress.network(ofHost: other))
        #expect((networks.0 == networks.1) == isSame)
    }

    @Test func `no 100 Continue comes behind the head of an answer`() async throws {
        try await withServer { exchange in
            exchange.begin(200, [:])
            do {
                while let piece = try await exchange.nextPiece() { try await exchange.write(piece) }
            } catch { return }
            exchange.finish()
        } _: { server in
            let talker = try await server.connect()
            let block = RawHTTP2.head("POST", [("expect", "100-continue")])
            talker.send(
                RawHTTP2.preface + RawHTTP2.frame(RawHTTP2.headers, 4, 1, block)
                    + RawHTTP2.frame(RawHTTP2.data, 1, 1, [1]))
            _ = await talker.frame(RawHTTP2.data) { $0.flags & 1 == 1 }
            // `:status 100` is no entry of the table; 200 is the last head.
            #expect(Self.statuses(talker).last == 0x88)
            #expect(Self.statuses(talker).count == 2)
            talker.connection.abort()
        }
    }
}
