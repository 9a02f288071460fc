import Synchronization
import TestSupport
import Testing
import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloRelay

@testable import TomboloServer

struct FixedClock: WallClock {
    var after = Span.zero

    func now() -> Instant { Instant(seconds: 1_795_000_000) + after }
}

/// A wall clock for keys that is turned by hand.
final class HandClock: Sendable {
    private let time = Mutex(FixedClock().now())

    var now: Instant { time.withLock { $0 } }

    func turn(_ span: Span) { time.withLock { $0 = $0 + span } }
}

/// A relay with its doors open on loopback, and curl before them.
struct DoorsUnderTest: Sendable {
    let loop: EpollLoop
    let relay: Relay
    let doors: ServerDoors
    let sender: AcceptingSender
    let origin: String
    /// A key of the tenant `main` with all scopes.
    let key: String

    static let tenant = TenantID(Identifier("main")!)
    static let apps = [
        CoreConfiguration.App(
            tenant: tenant, id: "com.example.app", environment: .sandbox, allowsLab: true)
    ]

    /// Sends a request and answers what came back.
    func call(
        _ method: String, _ path: String, _ body: String? = nil, key: String? = nil,
        fields: [String] = [], options: [String] = []
    ) async throws -> CurlAnswer {
        let curl = try curl(method, path, body, key: key, fields: fields, options: options)
        let text = await curl.wait()
        guard let answer = CurlAnswer(output: curl.collected) else {
            throw Curl.Failure(what: "no answer to \(method) \(path): \(text)")
        }
        return answer
    }

    func curl(
        _ method: String, _ path: String, _ body: String? = nil, key: String? = nil,
        fields: [String] = [], options: [String] = []
    ) throws -> Curl {
        var arguments = method == "HEAD" ? ["-I"] : ["-X", method]
        arguments += [origin + path, "-H", "Authorization: Bearer \(key ?? self.key)"]
        for field in fields { arguments += ["-H", field] }
        // What curl declares of itself is another type, which a batch refuses.
        if path.hasPrefix("/v1/events"), !fields.contains(where: { $0.hasPrefix("Content-Type") }) {
            arguments += ["-H", "Content-Type: application/x-ndjson"]
        }
        if let body { arguments += ["--data-binary", body] }
        return try Curl(arguments + options, on: loop)
    }

    /// Mints a key as an operator would.
    func mint(
        _ scopes: String, user: String? = nil, tenant: TenantID = tenant
    ) async throws -> String {
        let minted = doors.access.mint(
            environment: "test", tenant: tenant, scopes: try #require(ScopeSet(list: scopes)),
            binding: KeyBinding(user: user, app: nil), now: Instant(seconds: 0))
        doors.access.admit(minted)
        return minted.key.text
    }
}

/// Runs `body` against the doors of a relay whose log is in memory; then drains it.
func withDoors(
    log: any EventLog = InMemoryEventLog(), channels: (any ChannelService)? = nil,
    clock: HandClock = HandClock(), wallClock: any WallClock = FixedClock(),
    apps: [CoreConfiguration.App] = DoorsUnderTest.apps,
    keys: [(number: Int64, value: [UInt8])] = [],
    configure: @escaping @Sendable (inout DoorsConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (DoorsUnderTest) async throws -> Void
) async throws {
    try await onLoop { loop in
        let sender = AcceptingSender(loop)
        let relay = Relay(
            loop: loop, log: log, sender: sender,
            configuration: CoreConfiguration(apps: apps), wallClock: wallClock, seed: 7)
        sender.relay = relay
        _ = try await relay.recover()
        let access = AccessControl(pepper: Pepper(), records: keys, now: { clock.now })
        let minted = access.mint(
            environment: "test", tenant: DoorsUnderTest.tenant, scopes: .all,
            now: Instant(seconds: 0))
        access.admit(minted)
        var configuration = DoorsConfiguration(version: "0.0.0-test")
        configure(&configuration)
        let doors = ServerDoors(
            relay: relay, access: access, loop: loop, configuration: configuration,
            channels: channels)
        let server = try HTTPServer(
            loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0), handler: doors)
        let (memory, cuts) = (server.memory, server.cuts)
        doors.watch = { HTTPServerView(memory, cuts) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { try await relay.run() }
            group.addTask(executorPreference: loop) { try await server.run() }
            // The relay takes commands from its first turn on.
            while await !relay.isReady { await Task.yield() }
            for upstream in apps.indices {
                relay.capacityChanged(UpstreamNumber(Int32(upstream)), to: 1_000)
            }
            try await body(
                DoorsUnderTest(
                    loop: loop, relay: relay, doors: doors, sender: sender,
                    origin: "http://127.0.0.1:\(server.address.port)", key: minted.key.text))
            doors.drain()
            await server.drain(within: .seconds(5))
            await relay.finish()
            try await group.waitForAll()
        }
        sender.relay = nil
    }
}
