import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// Applies faults to pushes and connections.
extension Gateway {
    /// Longest wait. The wall clock may be changed meanwhile, so it is read again after this time.
    private static let waitMax: Duration = .seconds(30)

    /// Applies the stream limits when fault windows open and close, until the task is cancelled.
    func run() async throws {
        while true {
            let now = wallClock()
            limitStreams(at: now)
            let wait = faults.nextEdge(after: now).map { $0 - now } ?? Self.waitMax
            if await faultsChanged.park(until: loop.now + min(wait, Self.waitMax)) == .cancelled {
                throw CancellationError()
            }
        }
    }

    /// Applies a fault to a push that would have been accepted.
    func suffer(
        _ fault: FaultRule, _ push: AcceptedPush, _ answer: GatewayAnswer,
        _ exchange: HTTPExchange
    ) async {
        await suffer(fault, ("apns-id", answer.apnsID), exchange) {
            respond(answer, to: exchange)
        } deliver: { now in
            receiver?.received(push, at: now)
        }
    }

    /// Applies a fault to a broadcast, or to a request about channels.
    func suffer(_ fault: FaultRule, _ answer: ChannelAnswer, _ exchange: HTTPExchange) async {
        await suffer(fault, ("apns-request-id", answer.requestID), exchange) {
            respond(answer, to: exchange)
        } deliver: { now in
            if let broadcast = answer.broadcast { receiver?.received(broadcast, at: now) }
        }
    }

    private func suffer(
        _ fault: FaultRule, _ id: (name: String, value: String), _ exchange: HTTPExchange,
        respond: () -> Void, deliver: (WallInstant) -> Void
    ) async {
        counts.faults[fault.effect, default: 0] += 1
        if fault.delay > .zero {
            // If the task is cancelled, the simulator stops: the answer is sent at once.
            _ = try? await loop.sleep(for: fault.delay)
        }
        if let reason = fault.goAway {
            exchange.connection.goAway(reason: reason.isEmpty ? [] : Self.reason(reason))
        }
        let now = wallClock()
        switch fault.outcome {
        case .none:
            respond()
            return deliver(now)
        case .answer(let given): self.respond(given, id, to: exchange, at: now)
        case .silence(.reset(let code)): exchange.reset(code: code)
        case .silence(.abort): exchange.connection.abort()
        case .silence(.noAnswer): break
        }
        if fault.isDelivered { deliver(now) }
        if fault.outcome == .silence(.noAnswer) { await exchange.waitUntilPeerGone() }
    }

    private func respond(
        _ given: FaultRule.Answer, _ id: (name: String, value: String),
        to exchange: HTTPExchange, at now: WallInstant
    ) {
        var fields = HTTPFields()
        fields.append(id.name, id.value)
        fields.append("content-type", "application/json")
        let body = JSON.object { body in
            body.member("reason", given.reason)
            if given.status == 410 { body.member("timestamp", (now - given.goneFor).milliseconds) }
        }
        exchange.respond(given.status, fields, body.bytes)
    }

    /// Debug data of GOAWAY: "a JSON dictionary with a reason key".
    private static func reason(_ text: String) -> [UInt8] {
        JSONWriter.objectBytes { $0.member("reason", text) }
    }
}

extension FaultRule {
    /// Short name of the effect, for counters.
    var effect: String {
        switch outcome {
        case .answer(let answer): "\(answer.status) \(answer.reason)"
        case .silence(.noAnswer): "no_answer"
        case .silence(.reset): "reset"
        case .silence(.abort): "abort"
        case .none: goAway != nil ? "go_away" : "delay"
        }
    }
}
