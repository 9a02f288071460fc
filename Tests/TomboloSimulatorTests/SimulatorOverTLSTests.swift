import TestSupport
import Testing
import TomboloHTTP

@testable import TomboloSimulator

@Suite struct SimulatorOverTLSTests {
    @Test func `curl is accepted where right`() async throws {
        try await SimulatorBench.run { configuration in
            configuration.acceptsAnyToken = true
        } _: { bench in
            let id = "ec1bf194-b3b2-424a-89a9-5a918a6e6b5d"
            let answer = try await bench.push(["apns-id": id])
            #expect(answer.status == "2 200")
            #expect(answer.text.contains("apns-id: \(id)\r\n"))
            #expect(answer.text.contains("apns-unique-id: "))
            #expect(answer.text.contains("\r\n\r\n\n2 200"))
            #expect(bench.simulator.counts.accepted == 1)
        }
    }

    @Test func `curl is refused with Apple's reason where wrong`() async throws {
        try await SimulatorBench.run { bench in
            let unknown = try await bench.push()
            #expect(unknown.status == "2 400")
            #expect(unknown.text.contains(#"{"reason":"BadDeviceToken"}"#))
            #expect(unknown.text.contains("content-type: application/json\r\n"))
            let get = try await bench.push(method: "GET")
            #expect(get.text.contains(#"{"reason":"MethodNotAllowed"}"#))
            let missing = try await bench.push(["authorization": nil])
            #expect(missing.status == "2 403")
            #expect(missing.text.contains(#"{"reason":"MissingProviderToken"}"#))
            let path = try await bench.push(to: "a1f0/b")
            #expect(path.status == "2 404")
            let twice = try await bench.push(options: ["--http2", "-H", "apns-topic: twice"])
            #expect(twice.text.contains(#"{"reason":"DuplicateHeaders"}"#))
        }
    }

    @Test(arguments: [4_097, 100_000])
    func `a payload too large is refused with 413, however large`(count: Int) async throws {
        try await SimulatorBench.run { configuration in
            configuration.acceptsAnyToken = true
        } _: { bench in
            let padding = String(repeating: "x", count: count - 10)
            let answer = try await bench.push(payload: #"{"aps":"\#(padding)"}"#)
            #expect(answer.status == "2 413")
            #expect(answer.text.contains(#"{"reason":"PayloadTooLarge"}"#))
        }
    }

    @Test func `a client without ALPN that knows what it speaks is served, HTTP/1.1 is not`()
        async throws
    {
        try await SimulatorBench.run { configuration in
            configuration.acceptsAnyToken = true
        } _: { bench in
            let silent = try await bench.push(options: ["--no-alpn", "--http2-prior-knowledge"])
            #expect(silent.status == "2 200")
            let old = try await bench.push(options: ["--no-alpn", "--http1.1"])
            #expect(old.status == "0 000" || old.status == "1.1 000")
        }
    }

    @Test func `the first line tells where it is and whom to trust`() async throws {
        try await SimulatorBench.run { bench in
            _ = try await bench.push()
            let first =
                #"{"ready":true,"simulator":"\#(bench.simulator.url)","ca":"\#(bench.caFile)"}"#
            #expect(bench.lines.texts.first == first)
            #expect(bench.lines.texts.count == 2)
            #expect(bench.lines.texts[1].contains(#""reason":"BadDeviceToken""#))
        }
    }

    @Test func `a connection has one stream until a push was accepted there, then a thousand`()
        async throws
    {
        try await SimulatorBench.run { configuration in
            configuration.acceptsAnyToken = true
        } _: { bench in
            let arguments = [
                "--verbose", "--timeout=20", "--data=\(bench.payloadFile)",
                "--header=:method: POST", "--header=authorization: bearer \(bench.providerToken)",
                "--header=apns-topic: com.example.app.push-type.liveactivity",
                "--header=apns-push-type: liveactivity", bench.simulator.url + "/3/device/a1f0",
            ]
            let text = try await SubprocessOutput(
                "nghttp", arguments, on: bench.loop, withErrors: false
            ).wait()
            let limits = text.split(separator: "\n").filter {
                $0.contains("SETTINGS_MAX_CONCURRENT_STREAMS")
            }
            #expect(limits.count { $0.contains(":1]") } == 1)
            #expect(limits.count { $0.contains(":1000]") } == 1)
            #expect(text.contains(":status: 200"))
        }
    }

    @Test func `once widened a connection carries many pushes at once`() async throws {
        try await SimulatorBench.run { configuration in
            configuration.acceptsAnyToken = true
        } _: { bench in
            let endpoint = HTTP2Endpoint(
                scheme: .https, host: "127.0.0.1", port: bench.simulator.port)
            let tls = try TLSClientConfiguration(trust: .certificates(bench.simulator.caPEM))
            let client = try await HTTP2Client.connect(
                endpoint, tls: tls, on: bench.loop, within: .seconds(10))
            defer { client.close() }
            #expect(client.capacity == 1)
            let request = HTTP2Request(
                method: "POST", scheme: "https", authority: endpoint.authority,
                path: "/3/device/a1f0",
                fields: [
                    "authorization": "bearer " + bench.providerToken,
                    "apns-topic": "com.example.app.push-type.liveactivity",
                    "apns-push-type": "liveactivity",
                ], body: [UInt8](#"{"aps":{}}"#.utf8))
            let statuses = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        let outcome = await client.perform(request, timeout: .seconds(10))
                        return if case .answered(let answer) = outcome { answer.status } else { 0 }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [Int](repeating: 200, count: 200))
            #expect(client.capacity == 1_000)
        }
    }
}
