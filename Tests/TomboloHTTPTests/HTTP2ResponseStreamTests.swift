import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

@Suite struct HTTP2ResponseStreamTests {
    @Test func `an answer of many megabytes is read piece by piece, in bounded memory`()
        async throws
    {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) }
        try await withScript(answer: { $0.respond($1.streamID, 200, body: body) }) {
            loop, server, client in
            let stream = try await client.open(.get("/tail"))
            let head = try await stream.head()
            #expect(head.status == 200)
            // Nobody reads: no more than the window comes.
            while server.connections[0].connection.unsentBytes > 0 {
                try await loop.sleep(for: .milliseconds(1))
            }
            try await loop.sleep(for: .milliseconds(10))
            #expect(server.connections[0].connection.sentBytes < 400_000)
            var received: [UInt8] = []
            while let piece = try await stream.next() { received += piece }
            #expect(received == body)
        }
    }

    @Test func `a request's body is written piece by piece as the peer takes it`() async throws {
        try await withScript(answer: {
            $0.respond($1.streamID, 200, body: Array("\($1.body.count)".utf8))
        }) { _, _, client in
            let stream = try await client.open(.post(body: [1]), uploads: true)
            for _ in 0..<100 { try await stream.write([UInt8](repeating: 2, count: 20_000)) }
            stream.finish()
            let answer = try await stream.next()
            #expect(String(decoding: answer ?? [], as: UTF8.self) == "2000001")
        }
    }

    @Test func `a stream that is cancelled, reset or cut throws to its reader`() async throws {
        try await withScript(answer: {
            $0.respond($1.streamID, 200, body: [1], isWhole: false)
        }) { _, server, client in
            let cancelled = try await client.open(.get())
            #expect(try await cancelled.next() == [1])
            cancelled.cancel()
            await #expect(throws: HTTP2Failure.closedHere) { try await cancelled.next() }
            let reset = try await client.open(.get())
            #expect(try await reset.next() == [1])
            server.connections[0].reset(3, 2)
            await #expect(throws: HTTP2Failure.reset(2)) { try await reset.next() }
            let cut = try await client.open(.get())
            #expect(try await cut.next() == [1])
            server.connections[0].connection.abort()
            await #expect(throws: HTTP2Failure.self) { try await cut.next() }
        }
    }
}
