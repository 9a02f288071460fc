import TomboloAPNs
import TomboloCore
import TomboloLoop
import TomboloRelay

/// One upstream with one key. It has a push client and passes the outcomes to the relay. Used on
/// the loop only.
final class UpstreamClient: PushOutcomeReceiver, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    let checked: CheckedApp
    let key: ProviderKey
    let channels: APNsChannels
    let loop: EpollLoop
    private(set) var client: APNsClient!
    weak var relay: Relay?
    /// True if new pushes are sent with this client. Then the relay learns its capacity.
    var isCurrent = false
    private var isRetired = false
    private let retiring: Parking

    /// How long pushes in flight may take after another client has replaced this one: a little more
    /// than a push's deadline.
    private static let drainTime = APNsConfiguration.pushDeadline + .seconds(1)

    var app: Configuration.App { checked.app }
    var number: UpstreamNumber { checked.upstream.upstream }

    /// How often a client with `mayPush` looks whether its answer has changed.
    private static let lookEvery = Duration.milliseconds(200)

    /// - Parameter mayPush: see `APNsClient.mayPush`.
    init(
        _ checked: CheckedApp, key: ProviderKey, loop: EpollLoop,
        mayPush: (@Sendable () -> Bool)? = nil
    ) throws {
        (self.checked, self.key, self.loop) = (checked, key, loop)
        retiring = Parking(loop)
        proving = Parking(loop)
        channels = try APNsChannels(
            bundleID: checked.app.id, environment: checked.app.environment,
            endpoint: checked.channels, authorities: checked.upstream.authorities, key: key,
            loop: loop)
        client = try APNsClient(
            checked.upstream, key: key, loop: loop, chance: SystemRandomNumberGenerator(),
            receiver: self)
        client.mayPush = mayPush
    }

    /// Runs until the task is cancelled, or the client is retired with no pushes in flight.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.client.run() }
            group.addTask { await self.drained() }
            if client.mayPush != nil { group.addTask { try await self.keepLooking() } }
            defer { group.cancelAll() }
            try await group.next()
        }
        channels.close()
    }

    private func keepLooking() async throws {
        while true {
            try await loop.sleep(for: Self.lookEvery)
            client.lookAgain()
        }
    }

    /// Retires the client after it was replaced. After the pushes in flight, `run` returns.
    func retire() {
        isRetired = true
        retiring.unpark()
    }

    private func drained() async {
        while !isRetired { if await retiring.park() == .cancelled { return } }
        let deadline = loop.now + Self.drainTime
        while client.status.pushesInFlight > 0, loop.now < deadline {
            // The task is cancelled: stop without waiting for Apple.
            guard (try? await loop.sleep(for: .milliseconds(10))) != nil else { return }
        }
    }

    // MARK: Proving the key

    private let proving: Parking
    private var isProving = false
    private var proof: PushResult?

    /// Sends one push to a token that no phone has, on a new connection, to find out whether Apple
    /// accepts the key. Call it once, before the client is current, because it must send no other
    /// push meanwhile.
    func prove(within time: Duration) async -> KeyVerdict {
        let deadline = loop.now + time
        while !client.isWarm, loop.now < deadline {
            client.warm()
            // The task is cancelled, because the relay is stopping.
            guard (try? await loop.sleep(for: .milliseconds(10))) != nil else { break }
        }
        guard client.isWarm else {
            return .unanswered(client.status.trouble ?? "no connection in \(time)")
        }
        var chance = SystemRandomNumberGenerator()
        isProving = true
        defer { isProving = false }
        client.send(
            Push(
                id: PushID(0), upstream: number, event: .update, token: KeyProbe.token,
                apnsID: APNsID(high: chance.next(), low: chance.next()).text, priority: 5,
                expiration: 0, payload: KeyProbe.body))
        while true {
            if let proof { return KeyVerdict(proof, app) }
            if await proving.park() == .cancelled { return .unanswered("the relay is stopping") }
        }
    }

    /// Tells the relay how many pushes this upstream may have in flight now.
    func tellCapacity() { relay?.capacityChanged(number, to: client.capacity) }

    func pushEnded(_ outcome: PushOutcome) {
        guard isProving else {
            relay?.pushEnded(outcome, in: number)
            return
        }
        proof = outcome.result
        proving.unpark()
    }

    func capacityChanged(upstream: UpstreamNumber, to capacity: Int) {
        if isCurrent { relay?.capacityChanged(upstream, to: capacity) }
    }
}
