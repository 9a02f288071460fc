import TomboloAPNs
import TomboloCore
import TomboloLoop
import TomboloRelay

/// Joins the relay and the push clients: each push goes to its lane, each outcome comes back.
///
/// The relay is made before the clients are (in `dev` the endpoint is only known later): until then
/// the lanes take nothing, which is what a relay without connections assumes. On the loop only.
final class LaneSender: PushSender, ChannelService, @unchecked Sendable {
    // Sendable: used on the loop's thread only; relay and push clients call it there.

    private var lanes: [LaneClient] = []
    /// Clients that are to be run.
    private var starting: [LaneClient] = []
    private var startingPlace: Parking?
    private var keys: [KeyName: ProviderKey] = [:]
    private weak var relay: Relay?

    /// A new key's connection has so long to come, before the old key stays in use.
    static let warmTime = Duration.seconds(20)

    /// Before the relay runs.
    func attach(_ relay: Relay) {
        self.relay = relay
        for lane in lanes { lane.relay = relay }
    }

    /// One client for each app, in the order of the configuration: an app's place is its lane.
    func open(
        _ apps: [Configuration.App], loop: EpollLoop
    ) throws(ProgramError) {
        for (index, app) in apps.enumerated() {
            do {
                let lane = try LaneClient(
                    app, LaneNumber(Int32(index)), key: try key(of: app, loop: loop), loop: loop)
                lane.relay = relay
                lane.isCurrent = true
                lanes.append(lane)
                starting.append(lane)
            } catch {
                throw .usage("app \(app.id): \(error)", remedy: "tombolo config check")
            }
        }
    }

    /// Runs all lanes, and those that take their place, until it is cancelled.
    func run() async throws {
        guard let loop = lanes.first?.loop else { return }
        let place = Parking(loop)
        startingPlace = place
        try await withThrowingTaskGroup(of: Void.self) { group in
            while !Task.isCancelled {
                for lane in starting { group.addTask { try await lane.run() } }
                starting = []
                if await place.park() == .cancelled { break }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Takes the keys of a configuration that was read again into use, without a restart: where a
    /// lane's key is another one, a connection with the new key is opened first, then pushes go
    /// there, and what is in flight with the old one ends. Answers a line for each lane.
    func rotate(_ apps: [Configuration.App], loop: EpollLoop) async -> [String] {
        var told: [String] = []
        for (index, lane) in lanes.enumerated() {
            let app = apps.first { $0.isLane(of: lane.app) }
            guard let app else {
                told.append("app \(lane.app.id): it is gone from the file; that takes a restart")
                continue
            }
            do {
                let key = try key(of: app, loop: loop)
                guard key !== lane.key else { continue }
                let next = try LaneClient(app, lane.number, key: key, loop: loop)
                told.append(await replace(lane, by: next, at: index))
            } catch {
                told.append("app \(app.id): the old key stays in use: \(error)")
            }
        }
        return told
    }

    private func replace(_ old: LaneClient, by next: LaneClient, at index: Int) async -> String {
        next.relay = relay
        starting.append(next)
        startingPlace?.unpark()
        guard await next.warms(within: Self.warmTime) else {
            next.retire()
            return "app \(old.app.id): the old key stays in use: "
                + (next.client.status.trouble ?? "no connection with key \(next.app.keyID)")
        }
        old.isCurrent = false
        next.isCurrent = true
        lanes[index] = next
        next.tellCapacity()
        old.retire()
        return "app \(next.app.id): key \(next.app.keyID) is in use"
    }

    /// Pushes whose outcome is not known yet.
    var pushesInFlight: Int { lanes.reduce(0) { $0 + $1.client.status.pushesInFlight } }

    func send(_ push: Push) {
        let lane = Int(push.lane.rawValue)
        guard lanes.indices.contains(lane) else {
            let result = PushResult.notSent(reason: "lane \(lane) is not open yet")
            relay?.pushEnded(PushOutcome(push: push.id, result: result, took: .zero))
            return
        }
        lanes[lane].client.send(push)
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
        guard lanes.indices.contains(index) else {
            throw .unreachable("lane \(index) is not open yet")
        }
        return lanes[index].channels
    }

    // MARK: Keys

    /// Apps of one team with one key share its provider token: Apple counts its renewals by key.
    private struct KeyName: Hashable {
        var team: String
        var key: String
        var p8: [UInt8]
    }

    private func key(of app: Configuration.App, loop: EpollLoop) throws -> ProviderKey {
        let p8 = try FileBytes.read(app.keyFile)
        let name = KeyName(team: app.teamID, key: app.keyID, p8: p8)
        if let known = keys[name] { return known }
        let signer = try ProviderTokenSigner(keyID: app.keyID, teamID: app.teamID, p8: p8)
        let key = ProviderKey(signer: signer, loop: loop) { SystemClock().now() }
        keys[name] = key
        return key
    }
}

extension Configuration.App {
    /// Whether it is the same app in the same environment, whatever its key.
    fileprivate func isLane(of other: Self) -> Bool {
        id == other.id && tenant == other.tenant && environment == other.environment
    }
}
