import TestSupport
import TomboloAPNs
import TomboloCore
import TomboloCrypto
import TomboloHTTP
import TomboloLoop
import TomboloRelay

/// One life's way to Apple over HTTP/2: the product's push client and the product's server, with
/// memory between them.
final class WireSender: PushSender, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private unowned let world: World
    private unowned let life: Life
    let gate: Gate
    private var upstreams: [WireUpstream] = []
    private let p8 = P256PrivateKey.generate().pkcs8PEM

    init(_ world: World, _ life: Life) throws {
        self.world = world
        self.life = life
        gate = Gate(world, life)
        let clock = world.clock
        let signer = try ProviderTokenSigner(keyID: "ABCDEFGHIJ", teamID: "0123456789", p8: p8)
        let key = ProviderKey(signer: signer, loop: world.loop) { clock.now() }
        for number in 0..<World.upstreamCount {
            upstreams.append(
                try WireUpstream(world, life, UpstreamNumber(Int32(number)), gate: gate, key: key))
        }
    }

    /// Until it is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            let gate = gate
            group.addTask(executorPreference: world.loop) { await gate.run() }
            for upstream in upstreams {
                // It throws when it is cancelled, and at no other time.
                group.addTask(executorPreference: world.loop) { try? await upstream.client.run() }
            }
        }
    }

    func send(_ push: Push) {
        world.crashInTurn()
        guard !life.isDead, world.apple.admit(push, life) else { return }
        gate.expect(push)
        upstreams[Int(push.upstream.rawValue)].send(push)
        world.crashInTurn()
    }
}

/// One upstream of a life: its push client, and the way of its outcomes to the relay.
private final class WireUpstream: PushOutcomeReceiver, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private unowned let world: World
    private unowned let life: Life
    private let gate: Gate
    private(set) var client: APNsClient!
    private var flying: [PushID: Push] = [:]

    init(
        _ world: World, _ life: Life, _ number: UpstreamNumber, gate: Gate, key: ProviderKey
    ) throws {
        self.world = world
        self.life = life
        self.gate = gate
        let configuration = try APNsConfiguration(
            upstream: number, bundleID: World.appID, environment: .sandbox,
            connections: world.dice.roll(.network, 1...2))
        client = APNsClient(
            configuration, key: key, loop: world.loop, dialer: Dialer(gate: gate),
            chance: SplitMix64(seed: world.dice.seed(.network)), receiver: self)
    }

    private struct Dialer: APNsDialer {
        let gate: Gate

        func connect(within time: Duration) async throws(ConnectionError) -> HTTP2Client {
            try await gate.connect(within: time)
        }
    }

    func send(_ push: Push) {
        flying[push.id] = push
        client.send(push)
    }

    func pushEnded(_ outcome: PushOutcome) {
        guard !life.isDead, let push = flying.removeValue(forKey: outcome.push) else { return }
        // What may have gone out may still arrive.
        if case .unknown = outcome.result {} else { gate.forget(push) }
        let wasTaken = world.apple.taken.contains(push.apnsID)
        switch outcome.result {
        case .accepted where !wasTaken:
            world.violated(.wire, "accepted, it is said, and Apple has not taken it")
        case .notSent where wasTaken, .rejected where wasTaken:
            world.violated(.wire, "\(outcome.result), it is said, and Apple has taken it")
        default: break
        }
        world.apple.told(outcome, push, life)
    }

    func capacityChanged(upstream: UpstreamNumber, to capacity: Int) {
        guard !life.isDead else { return }
        world.note(.capacity, who: -1, Int64(capacity))
        world.trouble()
        life.relay?.capacityChanged(upstream, to: capacity)
    }
}
