import Testing
import TomboloAPNs
import TomboloCore

/// Servers from Debian that end their connections, or allow little: no push is lost, and none goes
/// twice that was known. With larger counts, and against h2o: `deploy/bench servers`.
struct ForeignServerTests {
    @Test(
        .needsNginx,
        arguments: [
            ("keepalive_requests 100;", 3_000), ("keepalive_requests 1000;", 5_000),
            ("keepalive_requests 1000; http2_max_concurrent_streams 1;", 2_000),
        ])
    func `nginx ends its connections, and every push is handled once`(
        settings: String, count: Int
    ) async throws {
        let nginx = try Nginx(settings: settings)
        defer { nginx.stop() }
        try await withUpstream(nginx.url, authorities: nginx.authorities) { upstream in
            try await upstream.streamNumbered(count)
            #expect(Set(upstream.outcomes.map(\.result)) == [.accepted])
        }
        let ids = nginx.requests().filter { $0.status == "200" }.map(\.id)
        #expect(ids.count == count, "what was answered is known, and goes once")
        #expect(Set(ids).count == count)
    }

    @Test(
        .enabled(if: H2O.isInstalled, "h2o is not installed"),
        arguments: [(100, 3_000), (1, 500)])
    func `h2o handles every push once, on one stream too`(
        streams: Int, count: Int
    ) async throws {
        let h2o = try H2O(streams: streams)
        defer { h2o.stop() }
        try await withUpstream(h2o.url, authorities: h2o.authorities) { upstream in
            try await upstream.streamNumbered(count)
            #expect(Set(upstream.outcomes.map(\.result)) == [.accepted])
        }
        let ids = h2o.drain()
        #expect(ids.count == count, "what was answered is known, and goes once")
        #expect(Set(ids).count == count)
    }
}

extension Upstream {
    /// Like `stream`, each push with an `apns-id` of its own.
    fileprivate func streamNumbered(_ count: Int) async throws {
        try await stream(count, to: { _ in "aa" }) { number, push in
            push.apnsID = "123e4567-e89b-12d3-a456-\(100_000_000_000 + number)"
        }
    }
}
