import Glibc
import TomboloCrypto
import TomboloHTTP
package import TomboloLoop

/// A strict simulation of Apple's gateway and a few phones. The gateway uses HTTP/2 over TLS and
/// checks every push. The phones follow ActivityKit's rules and are clients of a relay.
///
/// It shares no code with the sender it tests. It sends nothing to Apple. Apple's real limits are
/// unknown, so it cannot reproduce them.
///
/// ```swift
/// var configuration = SimulatorConfiguration(keys: [key], bundleIDs: ["com.example.app"])
/// configuration.port = 0  // a free one; the first line names it
/// let simulator = try Simulator(configuration, loop: loop) { line in
///     print(String(decoding: line, as: UTF8.self))
/// }
/// try await simulator.run()
/// ```
package final class Simulator: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    /// The authority's certificate in PEM, which senders must trust.
    package let caPEM: [UInt8]
    private let configuration: SimulatorConfiguration
    private let gateway: Gateway
    private let server: HTTPServer
    private let fleet: PhoneFleet
    private let clients: [PhoneClient]
    private let control: HTTPServer?
    private let line: @Sendable ([UInt8]) -> Void

    /// Maximum number of streams on a connection once a request with a valid provider token was
    /// accepted. Before, Apple allows one.
    static let streamsMax = 1_000

    /// Binds and listens, and writes the CA's file.
    ///
    /// - Parameters:
    ///   - wallClock: the clock of Apple and the phones.
    ///   - line: called on the loop with each line of output, a JSON object without the line end.
    /// - Throws: an error with the remedy if it cannot start.
    package init(
        _ configuration: SimulatorConfiguration, loop: EpollLoop,
        wallClock: @escaping @Sendable () -> WallInstant = SystemWallClock.now,
        line: @escaping @Sendable ([UInt8]) -> Void
    ) throws {
        self.configuration = configuration
        self.line = line
        var rules = GatewayRules(
            environment: configuration.environment, keys: configuration.keys,
            bundleIDs: configuration.bundleIDs)
        rules.acceptsAnyToken = configuration.acceptsAnyToken
        let now = wallClock()
        var faults = FaultScript(seed: configuration.faultSeed)
        faults.replace(with: configuration.faults, at: now)
        gateway = Gateway(
            rules: rules, faults: faults, loop: loop, wallClock: wallClock, line: line)

        let authority = try EphemeralCertificateAuthority(unixTime: now.seconds)
        caPEM = authority.certificate
        let credentials = try authority.issueServer(unixTime: now.seconds)
        server = try HTTPServer(
            loop: loop,
            listen: ListenAddress(host: configuration.host, port: Int(configuration.port)),
            tls: TLSServerConfiguration(
                certificateChain: credentials.certificateChain,
                privateKey: credentials.privateKey, applicationProtocols: ["h2"]),
            limits: Self.limits, handler: gateway)
        // Write the file only after binding: if a simulator already runs on the port, keep its
        // file.
        if let caFile = configuration.caFile {
            try KeptFile(path: caFile).write(authority.certificate, mode: 0o644)
        }

        let (phones, clients) = try Self.phones(
            configuration, loop: loop, wallClock: wallClock, line: line)
        self.clients = clients
        fleet = PhoneFleet(
            phones, clients: clients, gateway: gateway,
            kept: configuration.dataDirectory.map { KeptFile(path: $0 + "/cards.json") },
            loop: loop, wallClock: wallClock, line: line)
        control = try Self.control(configuration, loop, ControlDoor(gateway: gateway, fleet: fleet))
        gateway.receiver = fleet
    }

    /// The gateway's URL with the actual port: `https://127.0.0.1:8443`.
    package var url: String { "https://" + server.address.description }

    /// The port it listens on.
    package var port: Int { server.address.port }

    /// The control port's URL with the actual port: `http://127.0.0.1:8444`; nil if there is none.
    package var controlURL: String? { control.map { "http://" + $0.address.description } }

    /// Counters of the gateway.
    package var counts: GatewayCounts { gateway.counts }

    /// Writes the first line and serves until the task is cancelled.
    package func run() async throws {
        line(
            SimulatorLine.ready(url: url, caFile: configuration.caFile, controlURL: controlURL))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.server.run() }
            group.addTask { try await self.fleet.run() }
            group.addTask { try await self.gateway.run() }
            if let control { group.addTask { try await control.run() } }
            for client in clients {
                group.addTask { try await client.run() }
                group.addTask { try await client.taps.run() }
                group.addTask { try await client.fetcher.run() }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Limits like Apple's: connections stay open for hours, and allow one stream before the first
    /// accepted request.
    private static var limits: HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.idleTime = .seconds(6 * 3_600)
        limits.streamsPerConnection = 1
        return limits
    }

    /// The control port. It needs no key, so it must listen on a loopback address.
    private static func control(
        _ configuration: SimulatorConfiguration, _ loop: EpollLoop, _ door: ControlDoor
    ) throws -> HTTPServer? {
        guard let place = configuration.control else { return nil }
        let isLoopback = place.host == "localhost" || place.host == "::1"
        guard isLoopback || place.host.hasPrefix("127.") else {
            throw SimulatorError(
                "the control port asks for no key and must stay on this machine; "
                    + "write --control 127.0.0.1:0")
        }
        return try HTTPServer(
            loop: loop, listen: ListenAddress(host: place.host, port: Int(place.port)),
            handler: door)
    }

    private static func phones(
        _ configuration: SimulatorConfiguration, loop: EpollLoop,
        wallClock: @escaping @Sendable () -> WallInstant,
        line: @escaping @Sendable ([UInt8]) -> Void
    ) throws -> ([Phone], [PhoneClient]) {
        guard let relay = configuration.relay, configuration.phoneCount > 0 else { return ([], []) }
        guard !configuration.bundleIDs.isEmpty else {
            throw SimulatorError("phones need an app: name its bundle id with --topic")
        }
        let startTokenSeed = try startTokenSeed(configuration)
        let updateTokenSeed = RandomBytes.make(16)
        let phones = (1...configuration.phoneCount + (configuration.hasPad ? 1 : 0)).map { number in
            Phone(
                configuration.phone(
                    number, startTokenSeed: startTokenSeed, updateTokenSeed: updateTokenSeed),
                at: wallClock())
        }
        let clients = try phones.map { phone in
            let app = SimulatedApp(
                phone.configuration, environment: configuration.environment,
                user: phone.configuration.user, tellsBudgetClass: configuration.tellsBudgetClass)
            let taps = TapSender(
                phone: phone.configuration.name, link: try RelayLink(relay, loop: loop), loop: loop)
            let fetcher = try WidgetFetcher(phone.configuration, relay: relay, loop: loop)
            return PhoneClient(
                phone.configuration.name, app, link: try RelayLink(relay, loop: loop), taps: taps,
                fetcher: fetcher, loop: loop, wallClock: wallClock, line: line)
        }
        return (phones, clients)
    }

    /// The seed of the push-to-start tokens. It is kept in the data directory, if there is one, so
    /// that start tokens survive a restart.
    private static func startTokenSeed(_ configuration: SimulatorConfiguration) throws -> [UInt8] {
        guard let directory = configuration.dataDirectory else { return RandomBytes.make(16) }
        // The directory may exist. If it cannot be created, `lock` fails with an error.
        _ = mkdir(directory, 0o700)
        try KeptFile(path: directory + "/lock").lock()
        let file = KeptFile(path: directory + "/start-tokens.seed")
        if let seed = try file.read(), !seed.isEmpty { return seed }
        let seed = RandomBytes.make(16)
        try file.write(seed, mode: 0o600)
        return seed
    }
}
