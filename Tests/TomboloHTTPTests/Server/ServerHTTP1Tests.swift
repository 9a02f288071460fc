import Synchronization
import Testing
import TomboloHTTP
import TomboloLoop

/// HTTP/1.1 byte by byte: what no well-behaved client sends.
@Suite struct `The server in HTTP 1.1` {
    @Test func `what is refused is told, and the connection ends`() async throws {
        try await withServer(answer: echo) { server in
            for (bytes, status, code) in [
                ("GET / HTTP/1.1\r\n\r\n", 400, "missing-host"),
                ("GET / HTTP/1.1\nHost: a\n\n", 400, "bare-line-end"),
                ("GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "other-http-version"),
                (
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n", 400,
                    "length-and-transfer-coding"
                ),
                ("\u{16}\u{03}\u{01}\u{02}\u{00}\n", 400, "bare-line-end"),
            ] {
                let answer = try await server.answer(to: bytes)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
                #expect(answer.contains("\"code\":\"\(code)\""))
                #expect(answer.contains("connection: close"))
                #expect(answer.components(of: "content-length:") == 1)
            }
        }
    }

    @Test func `a bad chunk in the middle is a 400 of the handler that reads it`() async throws {
        try await withServer(answer: count) { server in
            let answer = try await server.answer(
                to: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "5\r\nhello\r\nzz\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.contains("\"code\":\"bad-chunk\""))
        }
    }

    @Test func `pipelined requests are answered in order, also behind bodies`() async throws {
        try await withServer(answer: echo) { server in
            let requests = (0..<50).map { index in
                index % 2 == 0
                    ? "GET /\(index) HTTP/1.1\r\nHost: a\r\n\r\n"
                    : "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n<\(index % 10)>"
            }
            let answer = try await server.answer(
                to: requests.joined() + "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            )
            #expect(answer.components(of: "HTTP/1.1 200 OK") == 51)
            var rest = answer[...]
            for index in 0..<50 {
                let word = index % 2 == 0 ? "GET /\(index)" : "<\(index % 10)>"
                let found = try #require(rest.range(ofText: word))
                rest = rest[found.upperBound...]
            }
            #expect(rest.hasSuffix("GET /last"))
        }
    }

    @Test func `half a head, an idle connection and half a body have their time`() async throws {
        var limits = HTTPServerLimits()
        limits.headTime = .milliseconds(60)
        limits.idleTime = .milliseconds(60)
        limits.bodyGrace = .milliseconds(60)
        try await withServer(limits: limits, answer: count) { server in
            let slowHead = try await server.answer(to: "GET / HTTP/1.1\r\nHos")
            #expect(slowHead.hasPrefix("HTTP/1.1 408 "))
            #expect(slowHead.contains("head-too-slow"))
            let idle = try await server.answer(to: "")
            #expect(idle == "")
            let afterAnswer = try await server.answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(afterAnswer.hasPrefix("HTTP/1.1 200 "))
            let slowBody = try await server.answer(
                to: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
            #expect(slowBody.hasPrefix("HTTP/1.1 408 "))
            #expect(slowBody.contains("body-too-slow"))
        }
    }

    @Test func `a short body that nobody reads is skipped, behind a long one the connection ends`()
        async throws
    {
        var limits = HTTPServerLimits()
        limits.skippedBodyBytesMax = 10
        try await withServer(limits: limits) { exchange in
            exchange.respond(401, [:], [])
        } _: { server in
            let end = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            func post(_ length: Int) -> String {
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
            }
            // The body comes only after the answer.
            let talker = try await server.connect()
            talker.send(Array(post(10).utf8))
            _ = await talker.receive(count: 40)
            talker.send(Array(("0123456789" + end).utf8))
            _ = await talker.waitForEnd()
            let short = String(decoding: talker.received, as: UTF8.self)
            #expect(short.components(of: "HTTP/1.1 401") == 2)
            talker.connection.abort()
            let long = try await server.answer(to: post(11))
            #expect(long.components(of: "HTTP/1.1 401") == 1)
            #expect(long.contains("connection: close"))
        }
    }

    @Test func `a body beyond the handler's bound is a 413, told before it is sent`() async throws {
        try await withServer { exchange in
            do {
                exchange.respond(200, [:], try await exchange.body(atMost: 5))
            } catch {
                // The server answers for us.
            }
        } _: { server in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            let fits = try await server.answer(to: head + "Content-Length: 5\r\n\r\nhello")
            #expect(fits.hasSuffix("\r\n\r\nhello"))
            let told = try await server.answer(to: head + "Content-Length: 1000000000\r\n\r\n")
            #expect(told.hasPrefix("HTTP/1.1 413 "))
            let untold = try await server.answer(
                to: head + "Transfer-Encoding: chunked\r\n\r\n6\r\nhello!\r\n")
            #expect(untold.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test func `a handler that gives no answer is a 500, half an answer is cut`() async throws {
        try await withServer { exchange in
            if exchange.head.target == "/half" {
                exchange.begin(200, [:])
                // A failed write ends the answer as well.
                try? await exchange.write([1, 2, 3])
            }
        } _: { server in
            let none = try await server.curl("/", [])
            #expect(none.hasSuffix("|1.1 500"))
            for version in ["--http1.1", "--http2-prior-knowledge"] {
                let half = try await server.curl("/half", [version, "-o", "/dev/null"])
                #expect(half.contains("curl: ("), "\(half)")
            }
        }
    }

    @Test func `who closed only its own side still gets the answer`() async throws {
        let gone = Mutex(false)
        try await withServer { exchange in
            await exchange.waitUntilPeerGone()
            gone.withLock { $0 = exchange.isPeerGone }
            exchange.begin(200, [:])
            do { try await exchange.write(Array("still".utf8)) } catch { return }
            exchange.finish()
        } _: { server in
            let talker = try await server.connect()
            talker.send(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            talker.connection.close()
            let end = await talker.waitForEnd()
            #expect(end == .closedByThisSide)
        }
        #expect(gone.withLock { $0 })
    }

    @Test(arguments: [false, true])
    func `beside an answer a body ends only where no byte moves either way`(
        _ isHTTP2: Bool
    ) async throws {
        var limits = HTTPServerLimits()
        limits.bodyGrace = .milliseconds(20)
        limits.bodyPauseMax = .milliseconds(20)
        limits.writeStall = .milliseconds(500)
        let seen = Mutex<(bytes: Int, failure: HTTPExchangeError?)>((0, nil))
        let hasFailed = Gate()
        try await withServer(limits: limits) { exchange in
            exchange.begin(200, [:])
            do throws(HTTPExchangeError) {
                while let piece = try await exchange.nextPiece() {
                    seen.withLock { $0.bytes += piece.count }
                    try await exchange.write(piece)
                }
            } catch {
                seen.withLock { $0.failure = error }
            }
            hasFailed.open()
        } _: { server in
            let talker = try await server.connect()
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
            talker.send(isHTTP2 ? RawHTTP2.preface + RawHTTP2.post(1) : Array(head.utf8))
            for _ in 1...4 {
                try await server.loop.sleep(for: .milliseconds(150))
                talker.send(isHTTP2 ? RawHTTP2.frame(RawHTTP2.data, 0, 1, [65]) : [65])
            }
            await hasFailed.wait()
            talker.connection.abort()
        }
        #expect(seen.withLock { $0.bytes } == 4)
        #expect(seen.withLock { $0.failure } == .bodyTooSlow)
    }

    @Test(arguments: [false, true])
    func `a peer that never reads is given up after its time`(_ isHTTP2: Bool) async throws {
        var limits = HTTPServerLimits()
        limits.writeStall = .milliseconds(100)
        let failure = Mutex<HTTPExchangeError?>(nil)
        let hasFailed = Gate()
        try await withServer(limits: limits) { exchange in
            exchange.begin(200, [:])
            do throws(HTTPExchangeError) {
                while true {
                    try await exchange.write([UInt8](repeating: 0, count: 100_000))
                }
            } catch {
                failure.withLock { $0 = error }
            }
            hasFailed.open()
        } _: { server in
            let talker = try await server.connect()
            talker.connection.pauseReading()
            talker.send(
                isHTTP2
                    ? RawHTTP2.preface + RawHTTP2.request(1)
                    : Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            await hasFailed.wait()
            talker.connection.abort()
        }
        // In HTTP/1.1 the connection itself may be given up first.
        let seen = failure.withLock { $0 }
        #expect(seen == .peerStalled || !isHTTP2 && seen == .peerGone)
    }

    @Test func `a handler that does not read holds its peer back`() async throws {
        let mayRead = Gate()
        try await withServer { exchange in
            await mayRead.wait()
            await count(exchange)
        } _: { server in
            let talker = try await server.connect()
            let size = 24_000_000
            talker.send(
                Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n".utf8)
                    + [UInt8](repeating: 1, count: size))
            while !talker.isHeldBack { try await server.loop.sleep(for: .milliseconds(1)) }
            #expect(talker.connection.sentBytes < UInt64(size))
            mayRead.open()
            _ = await talker.receive(count: 40)
            #expect(String(decoding: talker.received, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
            talker.connection.abort()
        }
    }

    @Test func `a stream whose request breaks its framing ends, and nothing behind is kept`()
        async throws
    {
        let gone = Mutex(false)
        try await withServer { exchange in
            exchange.begin(200, [:])
            await exchange.waitUntilPeerGone()
            gone.withLock { $0 = exchange.isPeerGone }
        } _: { server in
            let talker = try await server.connect()
            let head = "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            talker.send(Array(head.utf8))
            _ = await talker.receive(count: 15)
            talker.send(Array("no number\r\n".utf8) + [UInt8](repeating: 0, count: 1_000_000))
            #expect(await talker.waitForEnd() != nil)
            talker.connection.abort()
        }
        #expect(gone.withLock { $0 })
    }

    @Test func `a stream that begins behind a broken body ends at once`() async throws {
        let mayBegin = Gate()
        try await withServer { exchange in
            _ = try? await exchange.nextPiece()  // It fails: that is what is asked for.
            exchange.begin(200, [:])
            await exchange.waitUntilPeerGone()
            mayBegin.open()
        } _: { server in
            let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            let answer = try await server.answer(to: head + "no number\r\n")
            #expect(answer.isEmpty)
            await mayBegin.wait()
        }
    }

    @Test func `an address may have so many connections, and no more`() async throws {
        var limits = HTTPServerLimits()
        limits.connectionsPerAddress = 2
        try await withServer(limits: limits, answer: echo) { server in
            let first = try await server.connect()
            let second = try await server.connect()
            let request = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            for talker in [first, second] {
                talker.send(request)
                _ = await talker.receive(count: 40)
                #expect(talker.end == nil)
            }
            let third = try await server.connect()
            let end = await third.waitForEnd()
            #expect(end != nil)
            #expect(third.received.isEmpty)
            second.connection.abort()
            _ = await second.waitForEnd()
            while server.server.connectionCount > 1 {
                try await server.loop.sleep(for: .milliseconds(1))
            }
            let fourth = try await server.connect()
            fourth.send(request)
            _ = await fourth.receive(count: 40)
            #expect(fourth.end == nil)
            for talker in [first, fourth] { talker.connection.abort() }
        }
    }
}

extension String {
    /// How often `text` stands in it.
    func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let found = rest.range(ofText: text) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}

extension Substring {
    func range(ofText text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
