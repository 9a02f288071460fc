import TomboloAPNs
import TomboloCore
import TomboloLoop
import TomboloRelay

/// One lane with one key: a push client, and the way of its outcomes to the relay. On the loop
/// only.
final class LaneClient: PushOutcomeReceiver, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    let app: Configuration.App
    let number: LaneNumber
    let key: ProviderKey
    let channels: APNsChannels
    let loop: EpollLoop
    private(set) var client: APNsClient!
    weak var relay: Relay?
    /// Whether new pushes go here: then the relay is told the capacity.
    var isCurrent = false
    private var isRetired = false
    private let retiring: Parking

    /// What was in flight when another key took its place is waited for so long: as long as a push
    /// may take, and a little.
    private static let drainTime = APNsConfiguration.pushDeadline + .seconds(1)

    init(
        _ app: Configuration.App, _ number: LaneNumber, key: ProviderKey, loop: EpollLoop
    ) throws {
        self.app = app
        self.number = number
        self.key = key
        self.loop = loop
        retiring = Parking(loop)
        let endpoint = try app.endpoint.map { try APNsEndpoint(url: $0.description) }
        let configuration = try APNsConfiguration(
            lane: number, bundleID: app.id, environment: app.environment, endpoint: endpoint,
            authorities: try app.caFile.map { try FileBytes.read($0) })
        channels = try APNsChannels(
            bundleID: app.id, environment: app.environment,
            endpoint: try app.channelsEndpoint.map { try APNsEndpoint(url: $0.description) }
                ?? endpoint, authorities: configuration.authorities, key: key, loop: loop)
        client = try APNsClient(
            configuration, key: key, loop: loop, chance: SystemRandomNumberGenerator(),
            receiver: self)
    }

    /// Until it is cancelled, or retired and drained.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.client.run() }
            group.addTask { await self.drained() }
            defer { group.cancelAll() }
            try await group.next()
        }
        channels.close()
    }

    /// Another one has taken its place: what is in flight ends, then `run` returns.
    func retire() {
        isRetired = true
        retiring.unpark()
    }

    private func drained() async {
        while !isRetired {
            if await retiring.park() == .cancelled { return }
        }
        let deadline = loop.now + Self.drainTime
        while client.status.pushesInFlight > 0, loop.now < deadline {
            // Cancelled: whoever stops in a hurry does not wait for Apple.
            guard (try? await loop.sleep(for: .milliseconds(10))) != nil else { return }
        }
    }

    /// Opens a connection; answers whether it came in time.
    func warms(within time: Duration) async -> Bool {
        let deadline = loop.now + time
        while !client.isWarm, loop.now < deadline {
            client.warm()
            // Cancelled: the relay is stopping.
            guard (try? await loop.sleep(for: .milliseconds(10))) != nil else { return false }
        }
        return client.isWarm
    }

    /// The relay is told what the lane takes from now on.
    func tellCapacity() { relay?.capacityChanged(number, to: client.capacity) }

    func pushEnded(_ outcome: PushOutcome) { relay?.pushEnded(outcome) }

    func capacityChanged(lane: LaneNumber, to capacity: Int) {
        if isCurrent { relay?.capacityChanged(lane, to: capacity) }
    }
}
