import Synchronization
import Testing
import TomboloAPNs
import TomboloCore
import TomboloHTTP

/// A client that may not send for a while: its relay may have lost the log to another one.
struct APNsClientTrustTests {
    /// Sends a first push, then runs `body` with a switch for `mayPush`. Expects that the second
    /// push, which `body` hands over, is not written until the switch is on again.
    private func whileForbidden(
        capacity: Int, _ body: @escaping @Sendable (Upstream, (Bool) -> Void) -> Void
    ) async throws {
        let may = Mutex(true)
        let server = try await withScript(
            streams: 100, beforeRun: { $0.client.mayPush = { may.withLock { $0 } } }
        ) { _, exchange, _ in
            exchange.respond(200, HTTPFields(), [])
        } upstream: { upstream in
            try await upstream.expectAccepted("aa")
            try await upstream.wait { upstream.capacities.last == 100 }
            let sent = upstream.client.status.sentBytes
            body(upstream) { answer in may.withLock { $0 = answer } }
            upstream.client.lookAgain()
            try await upstream.wait { upstream.capacities.last == capacity }
            #expect(upstream.client.status.sentBytes == sent)
            #expect(upstream.client.status.pushesInFlight == 1)
            may.withLock { $0 = true }
            upstream.client.lookAgain()
            try await upstream.wait {
                upstream.outcomes.count == 2 && upstream.capacities.last == 100
            }
            #expect(upstream.outcomes.map(\.result) == [.accepted, .accepted])
        }
        #expect(server.requests == 2)
    }

    @Test func `a push that may not be sent waits, and goes when it may`() async throws {
        try await whileForbidden(capacity: 0) { upstream, allow in
            allow(false)
            upstream.send("bb")
        }
    }

    @Test func `a push that a connection has taken is not written after it became forbidden`()
        async throws
    {
        try await whileForbidden(capacity: 1) { upstream, allow in
            upstream.send("bb")
            // The connection writes at the end of the turn.
            allow(false)
        }
    }
}
