import TestSupport
import Testing
import TomboloHTTP

@testable import TomboloSimulator

@Suite struct FaultsOverTLSTests {
    private static func anyToken(_ configuration: inout SimulatorConfiguration) {
        configuration.acceptsAnyToken = true
        configuration.control = (host: "127.0.0.1", port: 0)
    }

    @Test func `every reason of Apple's can be provoked by a push, with its status`() async throws {
        try await SimulatorBench.run(Self.anyToken) { bench in
            for (index, reason) in RefusalReason.allCases.enumerated() {
                let token = "f0" + String(index + 16, radix: 16)
                let rule = #"{"token":"\#(token)","reason":"\#(reason.rawValue)"}"#
                #expect(try await bench.control("POST", "/v1/faults", rule).hasSuffix("200"))
                let answer = try await bench.push(to: token)
                #expect(answer.status == "2 \(reason.status)", "\(reason)")
                #expect(answer.text.contains(#"{"reason":"\#(reason.rawValue)""#))
                #expect(answer.text.contains(#","timestamp":"#) == (reason.status == 410))
            }
            #expect(try await bench.push(to: "a1f0").status == "2 200")
            #expect(bench.simulator.counts.faults.count == RefusalReason.allCases.count)
        }
    }

    @Test func `a fault hides nothing that is wrong with a push`() async throws {
        try await SimulatorBench.run { configuration in
            Self.anyToken(&configuration)
            configuration.faults = [Self.rule { $0.outcome = .silence(.abort) }]
        } _: { bench in
            let answer = try await bench.push(["apns-topic": nil])
            #expect(answer.text.contains("MissingTopic"))
            #expect(bench.simulator.counts.faults.isEmpty)
        }
    }

    @Test func `a push may meet silence, a reset, or the connection's end`() async throws {
        try await SimulatorBench.run(Self.anyToken) { bench in
            let client = try await bench.client()
            defer { client.close() }
            var ends: [String] = []
            for fault in [#""reset":"REFUSED_STREAM""#, #""no_answer":true"#, #""abort":true"#] {
                _ = try await bench.control("PUT", "/v1/faults", "{\(fault)}")
                switch await client.perform(bench.request, timeout: .milliseconds(300)) {
                case .answered(let answer): ends.append("\(answer.status)")
                case .notProcessed: ends.append("not processed")
                case .unknown: ends.append("unknown")
                }
            }
            #expect(ends == ["not processed", "unknown", "unknown"])
            let faults = bench.simulator.counts.faults
            #expect(faults["no_answer"] == 1 && faults["abort"] == 1)
            #expect((faults["reset"] ?? 0) >= 1)
        }
    }

    @Test func `GOAWAY carries its reason, and what is open is answered`() async throws {
        try await SimulatorBench.run { configuration in
            Self.anyToken(&configuration)
            configuration.faults = [Self.rule { $0.goAway = "Shutdown" }]
        } _: { bench in
            let text = try await bench.nghttp()
            #expect(text.contains("recv GOAWAY frame"))
            #expect(text.contains(#"{"reason":"Shutdown"}"#))
            #expect(text.contains(":status: 200"))
        }
    }

    @Test func `the limit on streams falls to 1 and rises again while connections live`()
        async throws
    {
        try await SimulatorBench.run(Self.anyToken) { bench in
            let client = try await bench.client()
            defer { client.close() }
            _ = await client.perform(bench.request, timeout: .seconds(5))
            var capacities: [Int] = []
            for body in [#"{"max_streams":1}"#, #"{"rules":[]}"#] {
                _ = try await bench.control("PUT", "/v1/faults", body)
                _ = await client.perform(bench.request, timeout: .seconds(5))
                capacities.append(client.capacity)
            }
            #expect(capacities == [1, 1_000])
        }
    }

    @Test func `the control port lists and deletes rules, and tells what it does not know`()
        async throws
    {
        try await SimulatorBench.run(Self.anyToken) { bench in
            let added = try await bench.control("POST", "/v1/faults", #"{"status":503,"times":1}"#)
            #expect(added.contains(#""id":1,"name":"","effect":"503 ","open":true,"taken":0"#))
            #expect(try await bench.push().status == "2 503")
            #expect(try await bench.control("GET", "/v1/counts").contains(#""503 ":1"#))
            #expect(try await bench.control("DELETE", "/v1/faults/1").hasSuffix("200"))
            #expect(try await bench.control("DELETE", "/v1/faults/1").hasSuffix("404"))
            let wrong = try await bench.control("PUT", "/v1/faults", #"{"statsu":503}"#)
            #expect(wrong.contains("/statsu: is unknown") && wrong.hasSuffix("422"))
            #expect(try await bench.control("GET", "/v1/phones/phone-9").hasSuffix("404"))
            #expect(try await bench.control("GET", "/other").hasSuffix("404"))
            #expect(try await bench.control("GET", "/v1/phones").contains(#"{"phones":[]}"#))
        }
    }

    @Test func `a control port that others could reach is refused`() async throws {
        await #expect(throws: SimulatorError.self) {
            try await SimulatorBench.run {
                $0.control = (host: "0.0.0.0", port: 0)
            } _: { _ in
            }
        }
    }

    private static func rule(_ change: (inout FaultRule) -> Void) -> FaultRule {
        var rule = FaultRule()
        change(&rule)
        return rule
    }
}

extension SimulatorBench {
    /// A request to the control port by `curl`; answers the body and, last, the status.
    func control(_ method: String, _ path: String, _ body: String = "") async throws -> String {
        let url = simulator.controlURL ?? ""
        var arguments = ["--silent", "--max-time", "120", "-X", method, "-w", "%{http_code}"]
        if !body.isEmpty { arguments += ["--data-binary", body] }
        return try await SubprocessOutput(
            "curl", arguments + [url + path], on: loop, withErrors: false
        ).wait()
    }

    /// A connection of our own client.
    func client() async throws -> HTTP2Client {
        let endpoint = HTTP2Endpoint(scheme: .https, host: "127.0.0.1", port: simulator.port)
        let tls = try TLSClientConfiguration(trust: .certificates(simulator.caPEM))
        return try await HTTP2Client.connect(endpoint, tls: tls, on: loop, within: .seconds(10))
    }

    /// A push that is right.
    var request: HTTP2Request {
        HTTP2Request(
            method: "POST", scheme: "https", authority: "127.0.0.1:\(simulator.port)",
            path: "/3/device/" + Self.deviceToken,
            fields: [
                "authorization": "bearer " + providerToken,
                "apns-topic": Self.bundleID + ".push-type.liveactivity",
                "apns-push-type": "liveactivity",
            ], body: [UInt8](#"{"aps":{}}"#.utf8))
    }

    /// One right push by `nghttp`, with every frame told.
    func nghttp() async throws -> String {
        let arguments = [
            "--verbose", "--timeout=20", "--data=\(payloadFile)",
            "--header=:method: POST", "--header=authorization: bearer \(providerToken)",
            "--header=apns-topic: com.example.app.push-type.liveactivity",
            "--header=apns-push-type: liveactivity", simulator.url + "/3/device/a1f0",
        ]
        return try await SubprocessOutput("nghttp", arguments, on: loop, withErrors: false).wait()
    }
}
