import Testing
import TomboloAPNs
import TomboloCore

/// Servers from Debian that end their connections, or allow little: no push is lost, and none goes
/// twice that was known. With larger counts, and against h2o: `deploy/bench servers`.
struct ForeignServerTests {
    @Test(arguments: [
        ("keepalive_requests 100;", 3_000), ("keepalive_requests 1000;", 5_000),
        ("keepalive_requests 1000; http2_max_concurrent_streams 1;", 2_000),
    ])
    func `nginx ends its connections, and every push is handled once`(
        settings: String, count: Int
    ) async throws {
        let nginx = try Nginx(settings: settings)
        defer { nginx.stop() }
        try await withLane(nginx.url, authorities: nginx.authorities) { lane in
            try await lane.streamNumbered(count)
            #expect(Set(lane.outcomes.map(\.result)) == [.accepted])
        }
        let ids = nginx.requests().filter { $0.status == "200" }.map(\.id)
        #expect(ids.count == count, "what was answered is known, and goes once")
        #expect(Set(ids).count == count)
    }
}

extension Lane {
    /// Like `stream`, each push with an `apns-id` of its own.
    fileprivate func streamNumbered(_ count: Int) async throws {
        try await stream(count, to: { _ in "aa" }) { number, push in
            push.apnsID = "123e4567-e89b-12d3-a456-\(100_000_000_000 + number)"
        }
    }
}
