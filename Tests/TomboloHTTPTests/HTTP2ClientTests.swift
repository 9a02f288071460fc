import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

@Suite struct HTTP2ClientTests {
    @Test func `a request goes and its answer comes, over TLS and in clear text`() async throws {
        let authority = try TestAuthority()
        for tls in [nil, authority] {
            try await onLoop { loop in
                let server = try ScriptedServer(loop, tls: tls?.server) {
                    $0.respond(
                        $1.streamID, 201,
                        fields: [("apns-id", "A"), ("X-Twice", "1"), ("x-twice", "2")],
                        body: Array($1.body.reversed()))
                }
                let client = try await server.connect(tls: tls?.client)
                var request = HTTP2Request.post("/3/device/ab?x=1", body: [1, 2, 3])
                request.fields.append("Authorization", "bearer t", indexing: .neverIndexed)
                let outcome = await client.perform(request, timeout: .seconds(20))
                guard case .answered(let answer) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(answer.status == 201)
                #expect(answer.body == [3, 2, 1])
                #expect(answer.fields["apns-id"] == "A")
                #expect(answer.fields.values("x-twice") == ["1", "2"])
                let seen = try #require(server.connections.first?.requests[1])
                #expect(seen.fields[":path"] == "/3/device/ab?x=1")
                #expect(seen.fields["authorization"] == "bearer t")
                #expect(seen.neverIndexed == ["authorization"])
                #expect(server.connections.first?.priorityFrames == 0)
                client.close()
                server.listener.close()
            }
        }
    }

    @Test func `thousands of requests are answered, each once, within the peer's limit`()
        async throws
    {
        try await withScript(settings: [(3, 17)]) { loop, server, client in
            let log = OutcomeLog(loop)
            #expect(client.capacity == 17)
            let request = HTTP2Request.post(body: [UInt8](repeating: 65, count: 1000))
            var next: UInt64 = 0
            func submitMore() {
                while client.capacity > 0, next < 5_000 {
                    client.submit(request, to: log, tag: next)
                    next += 1
                }
            }
            log.onAnswer = { _, _ in submitMore() }
            submitMore()
            await log.wait(for: 5_000)
            #expect(log.twice.isEmpty)
            #expect((0..<5_000).allSatisfy { log.kind(UInt64($0)) == "200" })
            #expect(server.connections[0].openMax <= 17)
            log.onAnswer = { _, _ in }
        }
    }

    @Test func `beyond the capacity a request is refused, and perform waits for its turn`()
        async throws
    {
        try await withScript(settings: [(3, 1)]) { loop, _, client in
            let log = OutcomeLog(loop)
            client.submit(.get(), to: log, tag: 0)
            #expect(client.capacity == 0)
            client.submit(.get(), to: log, tag: 1)
            #expect(log.outcomes.isEmpty)
            let performed = await client.perform(.get("/later"), timeout: .seconds(20))
            #expect(log.kind(0) == "200")
            #expect(log.outcomes[1] == .notProcessed(.noCapacity))
            guard case .answered = performed else {
                Issue.record("\(performed)")
                return
            }
        }
    }

    @Test func `the limit may fall to one and rise again while requests are open`() async throws {
        try await onLoop { loop in
            var held: [Int32] = []
            let server = try ScriptedServer(loop) {
                held.append($1.streamID); _ = $0
            }
            server.settings = [(3, 50)]
            let client = try await server.connect()
            let log = OutcomeLog(loop)
            for tag in 0..<50 { client.submit(.get(), to: log, tag: UInt64(tag)) }
            while held.count < 50 { try await loop.sleep(for: .milliseconds(1)) }
            let connection = server.connections[0]
            connection.set([(3, 1)])
            for id in held.prefix(49) { connection.respond(id, 200) }
            await log.wait(for: 49)
            while client.capacity != 0 { try await loop.sleep(for: .milliseconds(1)) }
            connection.respond(held[49], 200)
            await log.wait(for: 50)
            #expect(client.capacity == 1)
            connection.set([(3, 30)])
            while client.capacity != 30 { try await loop.sleep(for: .milliseconds(1)) }
            #expect(log.twice.isEmpty)
            client.close()
            server.listener.close()
        }
    }

    @Test func `closing tells what was written as unknown and what was not as not processed`()
        async throws
    {
        try await withScript(answer: { _, _ in }) { loop, server, client in
            let log = OutcomeLog(loop)
            client.submit(.get(), to: log, tag: 0)
            while server.connections[0].requests.isEmpty {
                try await loop.sleep(for: .milliseconds(1))
            }
            client.submit(.get(), to: log, tag: 1)
            client.close()
            #expect(log.outcomes.isEmpty)
            await log.wait(for: 2)
            #expect(log.outcomes[0] == .unknown(.closedHere))
            #expect(log.outcomes[1] == .notProcessed(.closedHere))
            client.submit(.get(), to: log, tag: 2)
            await log.wait(for: 3)
            #expect(log.outcomes[2] == .notProcessed(.closedHere))
        }
    }

    @Test func `draining lets the open requests finish and then closes`() async throws {
        try await withScript { loop, server, client in
            let log = OutcomeLog(loop)
            client.submit(.get(), to: log, tag: 0)
            client.drain()
            client.submit(.get(), to: log, tag: 1)
            await log.wait(for: 2)
            #expect(log.kind(0) == "200")
            #expect(log.kind(1) == "not processed")
            while !server.connections[0].hasEnded { try await loop.sleep(for: .milliseconds(1)) }
            #expect(client.state == .closed(.closedHere))
        }
    }

    @Test func `a request that HTTP/2 cannot carry is refused by the part that is wrong`()
        async throws
    {
        try await withScript { _, _, client in
            var path = HTTP2Request.get()
            path.path = "/a b"
            var value = HTTP2Request.get()
            value.fields.append("x-long-enough-for-words", "0123456789\r\nx: y")
            var name = HTTP2Request.get()
            name.fields.append(":path", "/other")
            var many = HTTP2Request.get()
            for number in 0..<65 { many.fields.append("x-\(number)", "") }
            for (request, part) in [
                (path, "path"), (value, "field 'x-long-enough-for-words'"), (name, "field ':path'"),
                (many, "more than 64 fields"),
            ] {
                let outcome = await client.perform(request, timeout: .seconds(20))
                #expect(outcome == .notProcessed(.unsendable(part)))
            }
            many.fields = HTTPFields()
            for number in 0..<64 { many.fields.append("x-\(number)", "") }
            guard case .answered = await client.perform(many, timeout: .seconds(20)) else {
                Issue.record("64 fields are allowed")
                return
            }
        }
    }

    @Test func `a peer that speaks HTTP 1 or nothing is told so at connecting`() async throws {
        try await onLoop { loop in
            let mute = try ScriptedServer(loop)
            mute.isMute = true
            let endpoint = HTTP2Endpoint(
                scheme: .http, host: "127.0.0.1", port: mute.listener.address.port)
            let silent = await #expect(throws: ConnectionError.self) {
                try await HTTP2Client.connect(
                    endpoint, tls: nil, on: loop, within: .milliseconds(50))
            }
            #expect(silent?.kind == .timedOut)
            let old = try EchoServer(loop, tls: nil) {
                $0.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            }
            let wrong = await #expect(throws: ConnectionError.self) {
                try await HTTP2Client.connect(
                    HTTP2Endpoint(
                        scheme: .http, host: "127.0.0.1", port: old.listener.address.port),
                    tls: nil, on: loop, within: .seconds(20))
            }
            #expect(wrong?.kind == .notHTTP2)
            mute.listener.close()
            old.listener.close()
        }
    }
}
