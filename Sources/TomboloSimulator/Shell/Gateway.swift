import TomboloCrypto
import TomboloHTTP
import TomboloLoop

/// Receives the pushes and broadcasts that the gateway accepted.
protocol PushReceiver: AnyObject {
    /// Called on the loop, once for each push, after its answer was sent.
    func received(_ push: AcceptedPush, at now: WallInstant)

    /// Called on the loop, once for each broadcast, after its answer was sent.
    func received(_ broadcast: AcceptedBroadcast, at now: WallInstant)
}

/// Counters of the gateway's answers.
package struct GatewayCounts: Hashable, Sendable {
    package internal(set) var accepted = 0
    /// Number of valid pushes by the id of the signing key, including those with a fault.
    package internal(set) var acceptedByKey: [String: Int] = [:]
    package internal(set) var refused: [RefusalReason: Int] = [:]
    /// Number of requests to which a fault was applied, by effect: `503 ServiceUnavailable`,
    /// `no_answer` …
    package internal(set) var faults: [String: Int] = [:]
}

/// Apple's gateway over HTTP: reads a request, lets `RequestJudge` decide, answers, and delivers.
final class Gateway: HTTPHandler, @unchecked Sendable {
    // Sendable: used on the loop's thread only, by the server that calls it.

    private(set) var judge: RequestJudge
    var counts = GatewayCounts()
    weak var receiver: (any PushReceiver)?
    private var connections: [UInt64: Memory] = [:]
    var faults: FaultScript
    /// Unparked when the faults have changed.
    let faultsChanged: Parking
    let loop: any Loop
    let wallClock: @Sendable () -> WallInstant
    private let line: @Sendable ([UInt8]) -> Void

    /// State of a connection.
    private struct Memory {
        let connection: HTTPServerConnection
        var judged = GatewayConnection()
        /// Reasons that were already sent on this connection. Each is logged once.
        var reasons: Set<RefusalReason> = []
    }

    /// Bytes of a body that are kept. No payload may be larger, so only the size of a larger one
    /// matters.
    private static let bodyBytesMax = 16 * 1_024
    /// Bytes that are read of a larger body, so that its sender gets the answer.
    private static let skippedBytesMax = 1_024 * 1_024

    init(
        rules: GatewayRules, faults: FaultScript, loop: any Loop,
        wallClock: @escaping @Sendable () -> WallInstant,
        line: @escaping @Sendable ([UInt8]) -> Void
    ) {
        judge = RequestJudge(rules: rules)
        self.faults = faults
        self.loop = loop
        faultsChanged = Parking(loop)
        self.wallClock = wallClock
        self.line = line
    }

    func issue(
        _ token: String, topic: PushTopic, limit: DeviceTokenRegistry.RequestLimit?,
        at now: WallInstant
    ) {
        judge.tokens.issue(
            token, topic: topic, environment: judge.rules.environment, limit: limit, at: now)
    }

    func retire(_ token: String, _ end: TokenEnd) {
        judge.tokens.retire(token, reason: end.reason, at: end.at)
    }

    func opened(_ connection: HTTPServerConnection) {
        connections[connection.id] = Memory(connection: connection)
    }

    func closed(_ connection: HTTPServerConnection) {
        connections[connection.id] = nil
    }

    func handle(_ exchange: HTTPExchange) async {
        // Apple speaks only HTTP/2.
        guard exchange.head.version == .http2 else { return exchange.connection.abort() }
        guard let body = await Self.body(of: exchange) else { return }
        let now = wallClock()
        if RequestJudge.isOfChannels(exchange.head.target) {
            return await answerChannels(exchange, body, at: now)
        }
        let id = exchange.connection.id
        var memory = connections[id] ?? Memory(connection: exchange.connection)
        let hadAccepted = memory.judged.hasAcceptedRequest
        let answer = judge.judge(
            Self.request(exchange.head, body), on: &memory.judged, at: now, freshID: Self.freshID)
        if case .failure(let refusal) = answer.result,
            memory.reasons.insert(refusal.reason).inserted
        {
            line(SimulatorLine.refused(refusal, apnsID: answer.apnsID, at: now))
        }
        // If the connection has ended meanwhile, its state was removed.
        if connections[id] != nil { connections[id] = memory }
        if memory.judged.hasAcceptedRequest, !hadAccepted { limitStreams(memory, at: now) }
        if case .success = answer.result, let key = memory.judged.keyID {
            counts.acceptedByKey[key, default: 0] += 1
        }
        if case .success(let push) = answer.result, let fault = faults.takeRule(for: push, at: now)
        {
            return await suffer(fault, push, answer, exchange)
        }
        respond(answer, to: exchange)
        if case .success(let push) = answer.result { receiver?.received(push, at: now) }
    }

    private func answerChannels(
        _ exchange: HTTPExchange, _ body: [UInt8], at now: WallInstant
    ) async {
        let id = exchange.connection.id
        var memory = connections[id] ?? Memory(connection: exchange.connection)
        let hadAccepted = memory.judged.hasAcceptedRequest
        // A fault may answer with an error; then the change to the channels must be undone.
        let before = faults.entries.isEmpty ? nil : judge.channels
        let answer = judge.judgeChannel(
            Self.request(exchange.head, body), on: &memory.judged, at: now, freshID: Self.freshID,
            freshChannel: { RandomBytes.make(16) })
        if connections[id] != nil { connections[id] = memory }
        if memory.judged.hasAcceptedRequest, !hadAccepted { limitStreams(memory, at: now) }
        if answer.status < 300, let fault = faults.takeRule(for: FaultedRequest(answer), at: now) {
            if case .answer = fault.outcome, !fault.isDelivered, let before {
                judge.channels = before
            }
            return await suffer(fault, answer, exchange)
        }
        respond(answer, to: exchange)
        if let broadcast = answer.broadcast { receiver?.received(broadcast, at: now) }
    }

    func respond(_ answer: ChannelAnswer, to exchange: HTTPExchange) {
        var fields: HTTPFields = ["apns-request-id": answer.requestID]
        if let channel = answer.channelID { fields.append("apns-channel-id", channel) }
        if !answer.body.isEmpty { fields.append("content-type", "application/json") }
        exchange.respond(answer.status, fields, answer.body)
    }

    /// Returns the body, cut if it is larger than any payload may be; nil if the sender is gone.
    private static func body(of exchange: HTTPExchange) async -> [UInt8]? {
        var body: [UInt8] = []
        var count = 0
        do throws(HTTPExchangeError) {
            while count <= skippedBytesMax, let piece = try await exchange.nextPiece() {
                count += piece.count
                if body.count <= bodyBytesMax { body += piece }
            }
            return body
        } catch {
            return nil  // The sender is gone, or the server answers.
        }
    }

    /// Allows one stream before a request with a valid provider token was accepted. Then allows as
    /// many as the faults allow.
    private func limitStreams(_ memory: Memory, at now: WallInstant) {
        let own = memory.judged.hasAcceptedRequest ? Simulator.streamsMax : 1
        memory.connection.setMaxConcurrentStreams(min(own, faults.streamsMax(at: now) ?? own))
    }

    /// Call it when the faults have changed, or when one of their windows has opened or closed.
    func limitStreams(at now: WallInstant) {
        for memory in connections.values { limitStreams(memory, at: now) }
    }

    func respond(_ answer: GatewayAnswer, to exchange: HTTPExchange) {
        var fields = HTTPFields()
        fields.append("apns-id", answer.apnsID)
        switch answer.result {
        case .success:
            counts.accepted += 1
            if let uniqueID = answer.uniqueID { fields.append("apns-unique-id", uniqueID) }
            exchange.respond(200, fields, [])
        case .failure(let refusal):
            counts.refused[refusal.reason, default: 0] += 1
            fields.append("content-type", "application/json")
            exchange.respond(refusal.reason.status, fields, refusal.body)
        }
    }

    private static func request(_ head: HTTPRequestHead, _ body: [UInt8]) -> PushRequest {
        PushRequest(
            method: head.method, path: head.target,
            fields: head.fields.map { (name: $0.name, value: $0.value) }, body: body)
    }

    /// A random UUID (RFC 9562, 5.4), lower case.
    private static func freshID() -> String {
        var bytes = RandomBytes.make(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, digit) in Hex.encode(bytes).utf8.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                text.append(UInt8(ascii: "-"))
            }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
