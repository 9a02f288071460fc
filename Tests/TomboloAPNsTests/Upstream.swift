import Glibc
import TestSupport
import Testing
import TomboloAPNs
import TomboloCore
import TomboloCrypto
import TomboloLoop

/// A client on a loop, and what it told. On the loop only.
final class Upstream: PushOutcomeReceiver, @unchecked Sendable {
    static let number = UpstreamNumber(7)

    // Sendable: used on the loop's thread only, on which `withUpstream` runs everything.
    private(set) var outcomes: [PushOutcome] = []
    private(set) var capacities: [Int] = []
    let key: P256PrivateKey
    private let loop: EpollLoop
    private let changed: Parking
    private var pushes: UInt64 = 0
    private var made: APNsClient?

    init(
        url: String, authorities: [UInt8]?, connections: Int, deadline: Duration, loop: EpollLoop
    ) throws {
        self.loop = loop
        changed = Parking(loop)
        key = P256PrivateKey.generate()
        let signer = try ProviderTokenSigner(
            keyID: "ABC123DEFG", teamID: "TEAM123456", p8: key.pkcs8PEM)
        let providerKey = ProviderKey(signer: signer, loop: loop) {
            Instant(seconds: Int64(time(nil)))
        }
        let configuration = try APNsConfiguration(
            upstream: Upstream.number, bundleID: "com.example.app", environment: .sandbox,
            endpoint: APNsEndpoint(url: url), authorities: authorities, connections: connections,
            pushDeadline: deadline)
        made = try APNsClient(
            configuration, key: providerKey, loop: loop, chance: SplitMix64(seed: 1),
            receiver: self)
    }

    var client: APNsClient { made! }
    var moment: MonotonicInstant { loop.now }

    func pushEnded(_ outcome: PushOutcome) {
        outcomes.append(outcome)
        changed.unpark()
    }

    func capacityChanged(upstream: UpstreamNumber, to capacity: Int) {
        precondition(upstream == Upstream.number)
        capacities.append(capacity)
        changed.unpark()
    }

    /// Waits until `condition` holds of what was told.
    func wait(within time: Duration = .seconds(20), until condition: () -> Bool) async throws {
        let deadline = loop.now + time
        while !condition() {
            if await changed.park(until: deadline) != .signal { throw DeadlineExceeded() }
        }
    }

    /// Hands one push over.
    @discardableResult
    func send(_ token: String, _ change: (inout Push) -> Void = { _ in }) -> PushID {
        pushes += 1
        var push = Push(
            id: PushID(pushes), upstream: Upstream.number, event: .update, token: token,
            apnsID: "123e4567-e89b-12d3-a456-42661417\(pushes % 9_000 + 1_000)", priority: 10,
            expiration: 0, payload: [UInt8](#"{"aps":{"event":"update"}}"#.utf8))
        change(&push)
        client.send(push)
        return push.id
    }

    /// Hands one push over and waits for what becomes of it.
    func result(of token: String) async throws -> PushResult {
        let id = send(token)
        try await wait { outcomes.contains { $0.push == id } }
        return outcomes.first { $0.push == id }!.result
    }

    /// Hands one push over and requires that it is accepted.
    func expectAccepted(
        _ token: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await result(of: token)
        try #require(result == .accepted, sourceLocation: sourceLocation)
    }

    /// Sends `count` pushes, never more at once than the capacity told; waits for all outcomes.
    func stream(
        _ count: Int, to token: (Int) -> String, _ change: (Int, inout Push) -> Void = { _, _ in }
    ) async throws {
        var sent = 0
        let before = outcomes.count
        while outcomes.count - before < count {
            while sent < count, sent - (outcomes.count - before) < (capacities.last ?? 0) {
                send(token(sent)) { change(sent, &$0) }
                sent += 1
            }
            let seen = (outcomes.count, capacities.count)
            try await wait { (outcomes.count, capacities.count) != seen }
        }
    }
}

extension PushResult {
    /// Why the push surely did not go; nil where it may have gone.
    var notSentReason: String? { if case .notSent(let reason) = self { reason } else { nil } }

    /// Why nobody knows whether it went.
    var unknownReason: String? { if case .unknown(let reason) = self { reason } else { nil } }
}

/// Runs `body` beside a running client, on a loop of its own.
func withUpstream(
    _ url: String, authorities: [UInt8]? = nil, connections: Int = 1,
    deadline: Duration = .seconds(10), beforeRun: @escaping @Sendable (Upstream) -> Void = { _ in },
    _ body: @escaping @Sendable (Upstream) async throws -> Void
) async throws {
    try await onLoop { loop in
        let upstream = try Upstream(
            url: url, authorities: authorities, connections: connections, deadline: deadline,
            loop: loop)
        beforeRun(upstream)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) {
                // Ends by being cancelled, and throws then.
                try? await upstream.client.run()
            }
            group.addTask(executorPreference: loop) {
                try await upstream.wait { upstream.capacities.contains(1) }
                try await body(upstream)
            }
            _ = try await group.next()
            group.cancelAll()
        }
    }
}
