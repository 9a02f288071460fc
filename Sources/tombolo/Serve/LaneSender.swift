import TomboloAPNs
import TomboloCore
import TomboloLoop
import TomboloRelay

/// Joins the relay and the push clients: each push goes to its lane, each outcome comes back.
///
/// The relay is made before the clients are (in `dev` the endpoint is only known later): until then
/// the lanes take nothing, which is what a relay without connections assumes. On the loop only.
final class LaneSender: PushSender, ChannelService, PushOutcomeReceiver, @unchecked Sendable {
    // Sendable: used on the loop's thread only; relay and push clients call it there.

    private var clients: [APNsClient] = []
    private var channels: [APNsChannels] = []
    private weak var relay: Relay?

    /// Before the relay runs.
    func attach(_ relay: Relay) { self.relay = relay }

    /// One client for each app, in the order of the configuration: an app's place is its lane.
    func open(
        _ apps: [Configuration.App], loop: EpollLoop
    ) throws(ProgramError) {
        var keys: [KeyName: ProviderKey] = [:]
        for (index, app) in apps.enumerated() {
            let name = KeyName(team: app.teamID, key: app.keyID, file: app.keyFile)
            do {
                let key = try keys[name] ?? Self.key(app, loop: loop)
                keys[name] = key
                let endpoint = try app.endpoint.map { try APNsEndpoint(url: $0.description) }
                let configuration = try APNsConfiguration(
                    lane: LaneNumber(Int32(index)), bundleID: app.id, environment: app.environment,
                    endpoint: endpoint, authorities: try app.caFile.map { try FileBytes.read($0) })
                channels.append(
                    try APNsChannels(
                        bundleID: app.id, environment: app.environment,
                        endpoint: try app.channelsEndpoint.map {
                            try APNsEndpoint(url: $0.description)
                        } ?? endpoint, authorities: configuration.authorities, key: key,
                        loop: loop))
                clients.append(
                    try APNsClient(
                        configuration, key: key, loop: loop, chance: SystemRandomNumberGenerator(),
                        receiver: self))
            } catch {
                throw .usage("app \(app.id): \(error)", remedy: "tombolo config check")
            }
        }
    }

    /// Runs all lanes until it is cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { try await client.run() } }
            try await group.waitForAll()
        }
    }

    /// Pushes whose outcome is not known yet.
    var pushesInFlight: Int { clients.reduce(0) { $0 + $1.status.pushesInFlight } }

    func send(_ push: Push) {
        let lane = Int(push.lane.rawValue)
        guard clients.indices.contains(lane) else {
            let result = PushResult.notSent(reason: "lane \(lane) is not open yet")
            pushEnded(PushOutcome(push: push.id, result: result, took: .zero))
            return
        }
        clients[lane].send(push)
    }

    // MARK: Channels

    func create(
        _ storage: Channel.Storage, in lane: LaneNumber
    ) async throws(ChannelFailure) -> String { try await manager(lane).create(storage) }

    func read(
        _ id: String, in lane: LaneNumber
    ) async throws(ChannelFailure) -> Channel.Storage? { try await manager(lane).read(id) }

    func delete(_ id: String, in lane: LaneNumber) async throws(ChannelFailure) {
        try await manager(lane).delete(id)
    }

    func list(in lane: LaneNumber) async throws(ChannelFailure) -> [String] {
        try await manager(lane).list()
    }

    private func manager(_ lane: LaneNumber) throws(ChannelFailure) -> APNsChannels {
        let index = Int(lane.rawValue)
        guard channels.indices.contains(index) else {
            throw .unreachable("lane \(index) is not open yet")
        }
        return channels[index]
    }

    func pushEnded(_ outcome: PushOutcome) { relay?.pushEnded(outcome) }

    func capacityChanged(lane: LaneNumber, to capacity: Int) {
        relay?.capacityChanged(lane, to: capacity)
    }

    /// Apps of one team with one key share its provider token: Apple counts its renewals by key.
    private struct KeyName: Hashable {
        var team: String
        var key: String
        var file: String
    }

    private static func key(_ app: Configuration.App, loop: EpollLoop) throws -> ProviderKey {
        let signer = try ProviderTokenSigner(
            keyID: app.keyID, teamID: app.teamID, p8: try FileBytes.read(app.keyFile))
        return ProviderKey(signer: signer, loop: loop) { SystemClock().now() }
    }
}
