import TestSupport
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// Apple's end of one life's connections: HTTP/2 comes in, the world's Apple decides, its word goes
/// back in the way that HTTP/2 has for it.
final class Gate: HTTPServerConnectionOwner, HTTPHandler, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private unowned let world: World
    private unowned let life: Life
    private var connections: [UInt64: (connection: HTTPServerConnection, stream: MemoryStream)] =
        [:]
    private var connectionsMade: UInt64 = 0
    private var exchanges: [HTTPExchange] = []
    private let work: Parking
    /// What the relay has handed to its sender, by `apns-id`.
    private var expected: [String: Push] = [:]
    /// The limit that the weather leaves; one more condition is a push that was taken.
    private var streamsMax = 1_000
    private var proved: Set<UInt64> = []

    init(_ world: World, _ life: Life) {
        self.world = world
        self.life = life
        work = Parking(world.loop)
    }

    func expect(_ push: Push) { expected[push.apnsID] = push }

    func forget(_ push: Push) { expected[push.apnsID] = nil }

    // MARK: Connections

    /// A connection to Apple, if Apple takes one.
    func connect(within time: Duration) async throws(ConnectionError) -> HTTP2Client {
        await world.pause(world.dice.time(.network, 5...150))
        world.trouble()
        if world.strikes(.notSent, .network, oneIn: 3) || life.isDead {
            throw ConnectionError(.refused, "Apple refuses connections")
        }
        let (client, server) = MemoryStream.pair(world)
        connectionsMade += 1
        var limits = HTTPServerLimits()
        // A first push is taken alone; and Apple keeps connections for long.
        limits.streamsPerConnection = 1
        limits.idleTime = .seconds(7_200)
        let connection = HTTPServerConnection(
            id: connectionsMade, stream: server, peerAddress: "relay", isSecure: true,
            loop: world.loop, limits: limits, server: self)
        connections[connectionsMade] = (connection, server)
        server.belongs(to: connection)
        connection.opened()
        return try await HTTP2Client.speak(
            over: client, to: "apple", on: world.loop, until: world.loop.now + time
        ) { client.belongs(to: $0) }
    }

    /// The life has ended: its ends of the connections are gone.
    func cut() {
        for number in connections.keys.sorted() { connections[number]?.stream.cut() }
        connections = [:]
    }

    /// The weather allows so many streams.
    func limitStreams(to count: Int) {
        streamsMax = count
        for number in connections.keys.sorted() { tellLimit(number) }
    }

    private func tellLimit(_ number: UInt64) {
        let own = proved.contains(number) ? 1_000 : 1
        connections[number]?.connection.setMaxConcurrentStreams(min(own, streamsMax))
    }

    // MARK: HTTPServerConnectionOwner

    func opened(_ connection: HTTPServerConnection) {}

    func closed(_ connection: HTTPServerConnection, wasOpened: Bool) {
        connections[connection.id] = nil
        world.trouble()
    }

    func requested(_ exchange: HTTPExchange) {
        exchanges.append(exchange)
        work.unpark()
    }

    /// Takes requests until it is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            while await work.park() == .signal {
                let batch = exchanges
                exchanges = []
                for exchange in batch {
                    group.addTask(executorPreference: self.world.loop) { await exchange.run(self) }
                }
            }
        }
    }

    // MARK: HTTPHandler

    func handle(_ exchange: HTTPExchange) async {
        // Who is gone is not answered.
        guard let body = try? await exchange.body(atMost: 8_192), !life.isDead else { return }
        guard
            let id = exchange.head.fields["apns-id"]
                ?? exchange.head.fields["apns-request-id"], let push = expected[id]
        else {
            world.violated(.wire, "a push that nobody has sent: \(exchange.head.target)")
            return exchange.respond(400, [:], [])
        }
        if let wrong = difference(exchange.head, body, from: push) {
            world.violated(.wire, "\(wrong): \(exchange.head)")
        }
        await withCheckedContinuation { (answered: CheckedContinuation<Void, Never>) in
            var isAnswered = false
            world.apple.decide(push, life) { [self] result in
                guard !isAnswered else { return }
                isAnswered = true
                answer(exchange, push, result)
                answered.resume()
            }
        }
    }

    private func difference(
        _ head: HTTPRequestHead, _ body: [UInt8], from push: Push
    ) -> String? {
        if push.surface == .channel {
            let isRight =
                head.target == "/4/broadcasts/apps/" + World.appID
                && head.fields["apns-channel-id"] == push.token && body == push.payload
            return isRight ? nil : "a broadcast"
        }
        var expected: HTTPFields = [
            "apns-topic": World.appID + Self.topic(push.surface).suffix,
            "apns-push-type": Self.topic(push.surface).type, "apns-priority": "\(push.priority)",
            "apns-expiration": "\(push.expiration)",
        ]
        if let id = push.collapseID { expected.append("apns-collapse-id", id) }
        for field in expected where head.fields.values(field.name) != [field.value] {
            return "another \(field.name)"
        }
        if head.method != "POST" || head.target != "/3/device/" + push.token { return "the path" }
        if push.collapseID == nil, head.fields.contains("apns-collapse-id") { return "a collapse" }
        let authorization = head.fields["authorization"] ?? ""
        if !authorization.hasPrefix("bearer ") { return "no provider token" }
        return body == push.payload ? nil : "another payload"
    }

    private static func topic(_ surface: Push.Surface) -> (type: String, suffix: String) {
        switch surface {
        case .widgets: ("widgets", ".push-type.widgets")
        case .control: ("controls", ".push-type.controls")
        case .background: ("background", "")
        case .activity, .channel: ("liveactivity", ".push-type.liveactivity")
        }
    }

    /// Apple's word, as HTTP/2 says it.
    private func answer(_ exchange: HTTPExchange, _ push: Push, _ result: PushResult) {
        let number = exchange.connection.id
        switch result {
        case .accepted where world.seam.refusesWhatIsTaken:
            exchange.respond(503, ["apns-id": push.apnsID], [])
        case .accepted:
            exchange.respond(200, ["apns-id": push.apnsID], [])
            if proved.insert(number).inserted { tellLimit(number) }
        case .rejected(let status, let reason, _, let since):
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("reason", reason)
            if let since { writer.member("timestamp", since.nanoseconds / 1_000_000) }
            writer.endObject()
            exchange.respond(status, ["apns-id": push.apnsID], writer.bytes)
        // REFUSED_STREAM: surely not processed.
        case .notSent: exchange.reset(code: 7)
        case .unknown:
            if world.dice.happens(.network, oneIn: 3) {
                connections[number]?.stream.cut()
            } else {
                exchange.reset(code: 2)
            }
        }
    }
}
