import Glibc
import Testing
import TomboloAPNs
import TomboloCore
import TomboloCrypto

/// The client against nginx.
struct APNsClientTests {
    @Test(.needsNginx) func `a push carries what Apple asks for, and is accepted`() async throws {
        let nginx = try Nginx()
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            try await upstream.expectAccepted("a0ff")
            upstream.send("a1") { push in
                push.priority = 5
                push.expiration = 1_700_000_600
                push.collapseID = "start-7"
                push.apnsID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
            }
            try await upstream.wait { upstream.outcomes.count == 2 }
            #expect(upstream.outcomes.allSatisfy { $0.result == .accepted && $0.took > .zero })
        }
        let requests = nginx.requests()
        try #require(requests.count == 2)
        let first = requests[0].columns
        #expect(first[0..<3] == ["200", "POST", "/3/device/a0ff"])
        #expect(
            first[4..<8] == ["com.example.app.push-type.liveactivity", "liveactivity", "10", "0"])
        #expect(first[8].hasPrefix("123e4567-"))
        #expect(first[9..<11] == ["-", "application/json"])
        #expect(first[13] == "127.0.0.1:\(nginx.port)")
        let second = requests[1].columns
        #expect(
            second[6..<10] == [
                "5", "1700000600", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "start-7",
            ])
        #expect(requests[0].connection == requests[1].connection)
        #expect(requests[0].authorization.hasPrefix("bearer ey"))
        #expect(requests[0].authorization == requests[1].authorization)
    }

    @Test(.needsNginx) func `each answer of a real server ends in its class`() async throws {
        let nginx = try Nginx()
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            _ = try await upstream.result(of: "aa")
            let gone = Instant(milliseconds: 1_700_000_000_123)
            for (token, status, reason, reaches, since) in [
                ("b0", 410, "Unregistered", .tokenGone, gone),
                ("c0", 429, "TooManyRequests", .tokenBackOff, nil),
                ("d0", 503, "ServiceUnavailable", .upstream, nil),
                ("f0", 400, "BadDeviceToken", .tokenMisplaced, nil),
                ("30", 502, APNsAnswer.noReason, .upstream, nil),
                ("99", 404, APNsAnswer.noReason, .push, nil),
                ("e0", 403, "InvalidProviderToken", .providerToken, nil),
            ] as [(String, Int, String, BlastRadius, Instant?)] {
                let expected = PushResult.rejected(
                    status: status, reason: reason, reaches: reaches, tokenGoneSince: since)
                let result = try await upstream.result(of: token)
                #expect(result == expected, "\(token)")
            }
        }
    }

    @Test(.needsNginx)
    func `one push is in flight until the first is accepted, then as many as the peer allows`()
        async throws
    {
        let nginx = try Nginx(settings: "http2_max_concurrent_streams 37;")
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            #expect(upstream.capacities == [1])
            // A refusal of the token is no acceptance.
            _ = try await upstream.result(of: "b0")
            #expect(upstream.capacities == [1])
            try await upstream.expectAccepted("aa")
            try await upstream.wait { upstream.capacities.last != 1 }
            #expect(upstream.capacities == [1, 37])
            try await upstream.stream(500) { "a\($0)" }
            #expect(upstream.outcomes.dropFirst().allSatisfy { $0.result == .accepted })
        }
        let requests = nginx.requests()
        #expect(requests.count == 502)
        #expect(Set(requests.map(\.connection)).count == 1)
    }

    @Test(.needsNginx) func `a push beyond the capacity is not sent`() async throws {
        let nginx = try Nginx()
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            upstream.send("a0")
            let second = upstream.send("a1")
            #expect(upstream.outcomes.map(\.push) == [second])
            try #require(upstream.outcomes.first?.result.notSentReason != nil)
            try await upstream.wait { upstream.outcomes.count == 2 }
            #expect(upstream.outcomes.last?.result == .accepted)
        }
        #expect(nginx.requests().count == 1)
    }

    @Test(.needsNginx) func `a server that drains its connection every 100 requests loses no push`()
        async throws
    {
        let nginx = try Nginx(settings: "keepalive_requests 100;")
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            try await upstream.stream(2_000) { "a\($0)" }
            let others = Set(upstream.outcomes.map(\.result)).subtracting([.accepted])
            #expect(others.isEmpty)
            #expect(Set(upstream.outcomes.map(\.push)).count == 2_000)
        }
        let requests = nginx.requests()
        #expect(requests.count == 2_000)
        #expect(Set(requests.map(\.connection)).count == 20)
    }

    @Test(.needsNginx)
    func `full connections make the upstream open another, up to the number allowed`()
        async throws
    {
        let nginx = try Nginx(settings: "http2_max_concurrent_streams 2;")
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities, connections: 3) {
            upstream in
            try await upstream.stream(3_000) { "a\($0)" }
            #expect(upstream.capacities.max() == 6)
            #expect(upstream.client.status.connections == 3)
            #expect(upstream.outcomes.allSatisfy { $0.result == .accepted })
        }
        #expect(Set(nginx.requests().map(\.connection)).count == 3)
    }

    @Test(.needsNginx) func `an expired provider token is replaced once, on a new connection`()
        async throws
    {
        let nginx = try Nginx()
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            func expired(_ reaches: BlastRadius) -> PushResult {
                .rejected(
                    status: 403, reason: "ExpiredProviderToken", reaches: reaches,
                    tokenGoneSince: nil)
            }
            #expect(try await upstream.result(of: "00") == expired(.connection))
            try await upstream.wait { upstream.capacities.last == 1 }
            try await upstream.expectAccepted("a0")
            // The new token as well: no third one is made, it is the operator's turn.
            #expect(try await upstream.result(of: "00") == expired(.providerToken))
            try await upstream.wait { upstream.capacities.last == 1 }
            try await upstream.expectAccepted("a0")
        }
        let requests = nginx.requests()
        try #require(requests.map(\.status) == ["403", "200", "403", "200"])
        #expect(requests[0].authorization != requests[1].authorization)
        #expect(requests[1].authorization == requests[2].authorization)
        #expect(requests[2].authorization == requests[3].authorization)
        #expect(requests[0].connection != requests[1].connection)
        #expect(requests[1].connection == requests[2].connection)
        #expect(requests[2].connection != requests[3].connection)
    }

    @Test(.needsNginx) func `too many provider tokens make a new connection, not a new token`()
        async throws
    {
        let nginx = try Nginx()
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            try await upstream.expectAccepted("a0")
            #expect(
                try await upstream.result(of: "10")
                    == .rejected(
                        status: 429, reason: "TooManyProviderTokenUpdates", reaches: .connection,
                        tokenGoneSince: nil))
            try await upstream.wait { upstream.capacities.last == 1 }
            try await upstream.expectAccepted("a1")
        }
        let requests = nginx.requests()
        try #require(requests.count == 3)
        #expect(Set(requests.map(\.authorization)).count == 1)
        #expect(requests[0].connection == requests[1].connection)
        #expect(requests[1].connection != requests[2].connection)
    }

    @Test(.needsNginx) func `a reset stream leaves its push unknown, and its connection in use`()
        async throws
    {
        let nginx = try Nginx()
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            try await upstream.expectAccepted("a0")
            let reason = try #require(try await upstream.result(of: "40").unknownReason)
            #expect(!reason.isEmpty)
            try await upstream.expectAccepted("a1")
        }
        let accepted = nginx.requests().filter { $0.status == "200" }
        #expect(Set(accepted.map(\.connection)).count == 1)
    }

    @Test func `an upstream that stops tells every push's outcome and takes no more`() async throws
    {
        let (listener, port) = listenOnLoopback()
        defer { close(listener) }
        let kept = Kept()
        try await withUpstream("https://127.0.0.1:\(port)") { upstream in
            kept.upstream = upstream
            upstream.send("a0")
        }
        let upstream = try #require(kept.upstream)
        #expect(upstream.outcomes.count == 1)
        #expect(upstream.capacities == [1, 0])
    }
}

/// Holds an upstream beyond its loop's life, for a look at it.
///
/// `@unchecked Sendable`: written on the loop, read when the loop has ended.
private final class Kept: @unchecked Sendable {
    var upstream: Upstream?
}
