import Glibc
import Testing
import TomboloAPNs
import TomboloCore
import TomboloHTTP

/// Endpoints that do not serve.
struct APNsClientTroubleTests {
    /// The reason for which a push to `url` was not sent.
    private func notSent(
        _ url: String, authorities: [UInt8]? = nil, deadline: Duration = .seconds(10),
        then check: @escaping @Sendable (Upstream) async throws -> Void = { _ in }
    ) async throws -> String {
        let reason = Reason()
        try await withUpstream(url, authorities: authorities, deadline: deadline) { upstream in
            let text = try #require(try await upstream.result(of: "a0").notSentReason)
            reason.text = text
            #expect(upstream.client.status.trouble == text)
            try await check(upstream)
        }
        return reason.text
    }

    @Test func `a refused connection is told with its address, and not tried again at once`()
        async throws
    {
        let (listener, port) = listenOnLoopback()
        close(listener)
        let reason = try await notSent("https://127.0.0.1:\(port)") { upstream in
            // No capacity during the back-off, and one push again at its end.
            try await upstream.wait { upstream.capacities == [1, 0] }
            try await upstream.wait { upstream.capacities == [1, 0, 1] }
            try #require(try await upstream.result(of: "a1").notSentReason != nil)
        }
        #expect(reason.contains("127.0.0.1:\(port)"))
        #expect(reason.contains("refused"))
    }

    @Test func `a connection that hangs in the handshake ends within half of the push's deadline`()
        async throws
    {
        let (listener, port) = listenOnLoopback()
        defer { close(listener) }
        let reason = try await notSent("https://127.0.0.1:\(port)", deadline: .seconds(6)) {
            upstream in
            #expect(upstream.outcomes[0].took >= .seconds(3))
            #expect(upstream.outcomes[0].took < .seconds(6))
        }
        #expect(reason.contains("127.0.0.1:\(port)"))
    }

    @Test(.needsNginx) func `a certificate of a stranger is told as that`() async throws {
        let nginx = try Nginx()
        defer { nginx.stop() }
        let stranger = try EphemeralCertificateAuthority(unixTime: Int64(time(nil)))
        let reason = try await notSent(nginx.url, authorities: stranger.certificate)
        #expect(reason.contains("certificate"))
        #expect(nginx.requests().isEmpty)
    }

    @Test(.needsNginx) func `a server without HTTP/2 is told as that`() async throws {
        let nginx = try Nginx(protocols: "")
        defer { nginx.stop() }
        let reason = try await notSent(nginx.url, authorities: nginx.authorities)
        #expect(reason.contains("application protocol"))
    }

    @Test func `authorities that are no certificates are refused before anything is sent`()
        async throws
    {
        await #expect(throws: APNsConfigurationError.self) {
            try await withUpstream("https://127.0.0.1:1", authorities: [1, 2, 3]) { _ in }
        }
    }

    @Test(.needsNginx)
    func `a push without an answer is unknown at its deadline, and its silent connection goes`()
        async throws
    {
        let (listener, port) = listenOnLoopback()
        defer { close(listener) }
        // What goes to 8… is passed to somebody who never answers.
        let hanging = "location /3/device/8 { proxy_pass http://127.0.0.1:\(port); }"
        let nginx = try Nginx(locations: Nginx.verdicts + "\n" + hanging)
        defer { nginx.stop() }
        try await withUpstream(
            nginx.url, authorities: nginx.authorities, deadline: .seconds(4)
        ) { upstream in
            try await upstream.expectAccepted("a0")
            let reason = try #require(try await upstream.result(of: "80").unknownReason)
            #expect(reason.contains("127.0.0.1:\(nginx.port)"))
            #expect(upstream.outcomes[1].took >= .seconds(4))
            #expect(upstream.client.status.connections == 0)
            try await upstream.wait { upstream.capacities.last == 1 }
            try await upstream.expectAccepted("a1")
        }
        let accepted = nginx.requests().filter { $0.status == "200" }
        #expect(Set(accepted.map(\.connection)).count == 2)
    }

    @Test(.needsNginx) func `one push without an answer among others does not cost the connection`()
        async throws
    {
        let (listener, port) = listenOnLoopback()
        defer { close(listener) }
        let hanging = "location /3/device/8 { proxy_pass http://127.0.0.1:\(port); }"
        let nginx = try Nginx(locations: Nginx.verdicts + "\n" + hanging)
        defer { nginx.stop() }
        try await withUpstream(
            nginx.url, authorities: nginx.authorities, deadline: .seconds(4)
        ) { upstream in
            try await upstream.expectAccepted("a0")
            let hung = upstream.send("80")
            var sent = 0
            while !upstream.outcomes.contains(where: { $0.push == hung }) {
                sent += 1
                try await upstream.expectAccepted("a1")
            }
            #expect(upstream.client.status.connections == 1)
            try await upstream.expectAccepted("a2")
            #expect(upstream.outcomes.count == sent + 3)
        }
        let accepted = nginx.requests().filter { $0.status == "200" }
        #expect(Set(accepted.map(\.connection)).count == 1)
    }
}

/// A word carried out of an upstream's loop.
///
/// `@unchecked Sendable`: written on the loop, read when the loop has ended.
private final class Reason: @unchecked Sendable {
    var text = ""
}
