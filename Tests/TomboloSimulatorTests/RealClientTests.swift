import Testing

@testable import TomboloSimulator

/// What real clients do and Apple takes: the simulator is strict, and no stricter than that.
@Suite struct RealClientTests {
    /// HPACK's table has 200 as its entry 8 (RFC 7541, A).
    private static let (ok, reset): (UInt8, UInt8) = (0x88, 0)

    @Test(arguments: [
        ("host", "127.0.0.1", ok), ("x-host", "127.0.0.1", reset), ("host", "not a host", reset),
    ])
    func `host is as good as :authority, and ALPN need not be said`(
        name: String, value: String, status: UInt8
    ) async throws {
        try await SimulatorBench.run { configuration in
            configuration.acceptsAnyToken = true
        } _: { bench in
            let client = try await BareClient(
                port: bench.simulator.port, trusting: bench.simulator.caPEM, on: bench.loop)
            defer { client.close() }
            let answered = await client.post(
                "/3/device/a1f0",
                [
                    (name, value), ("authorization", "bearer " + bench.providerToken),
                    ("apns-topic", SimulatorBench.bundleID + ".push-type.liveactivity"),
                    ("apns-push-type", "liveactivity"),
                ], #"{"aps":{"event":"update"}}"#)
            #expect(answered == status)
            #expect(bench.simulator.counts.accepted == (status == Self.ok ? 1 : 0))
        }
    }

    @Test(arguments: [1, 2, 31, 32, 33, 40, 80, 100, 128, 1_000])
    func `a token may have any number of bytes, in either case`(bytes: Int) {
        var bench = GatewayBench()
        for digits in ["a1", "A1"] {
            let token = String(repeating: digits, count: bytes)
            bench.judge.tokens.issue(
                token.lowercased(), topic: .liveActivity(GatewayBench.bundleID),
                environment: .sandbox, limit: nil, at: bench.now)
            #expect(bench.refusal(bench.request { $0.path = "/3/device/" + token }) == nil)
            let odd = bench.request { $0.path = "/3/device/" + token.dropLast() }
            let reason = bench.refusal(odd)?.reason
            #expect(reason == .badDeviceToken)
        }
    }

    @Test func `raw and DER signatures are taken, on one connection`() {
        var bench = GatewayBench()
        let raw = bench.request(authorization: "bearer " + bench.providerToken())
        #expect(bench.refusal(raw) == nil)
        let der = bench.request(authorization: "bearer " + bench.providerToken(der: true))
        #expect(bench.refusal(der) == nil)
    }
}
