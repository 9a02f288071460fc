import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloServer

/// Controls the phones of `dev` through the simulator's control port. Uses one connection and
/// reopens it when it has ended. Used on the loop only.
final class SimulatedPhones: PhoneControl, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let origin: Origin
    private let host: ScenarioHost
    private let loop: EpollLoop
    private var client: HTTP2Client?

    /// Time limit for an answer. The simulator is on this machine and has all data in memory.
    private static let answerTime = Duration.seconds(5)

    init(_ origin: Origin, _ host: ScenarioHost, loop: EpollLoop) {
        (self.origin, self.host, self.loop) = (origin, host, loop)
    }

    func scenario(_ name: String, runs: Bool?) -> JSON? {
        guard runs.map({ host.direct(name, runs: $0) }) ?? ScenarioHost.names.contains(name) else {
            return nil
        }
        return JSON.object { host.write(name, into: &$0) }
    }

    func answer(
        _ method: String, _ path: String, _ body: [UInt8]
    ) async throws -> PhoneAnswer {
        let client = try await connected()
        var fields = HTTPFields()
        if !body.isEmpty { fields.append("content-type", "application/json") }
        let request = HTTP2Request(
            method: method, scheme: origin.scheme.rawValue, authority: origin.authority,
            path: "/v1/phones" + path, fields: fields, body: body)
        switch await client.perform(request, timeout: Self.answerTime) {
        case .answered(let answer):
            return PhoneAnswer(
                status: answer.status,
                body: path.isEmpty && answer.status == 200
                    ? withScenarios(answer.body) : answer.body)
        case .notProcessed(let failure), .unknown(let failure): throw failure
        }
    }

    /// Adds the scenarios to the object of all phones.
    private func withScenarios(_ body: [UInt8]) -> [UInt8] {
        guard let end = body.lastIndex(of: UInt8(ascii: "}")) else { return body }
        return body[..<end] + [UInt8(ascii: ",")]
            + JSON.object { host.write(into: &$0) }.bytes.dropFirst()
    }

    private func connected() async throws -> HTTP2Client {
        if let client, case .open = client.state { return client }
        client?.close()
        var limits = HTTP2ClientLimits()
        limits.answerBodyBytesMax = RelayClient.answerBytesMax
        let endpoint = HTTP2Endpoint(scheme: .http, host: origin.host, port: Int(origin.port))
        let made = try await HTTP2Client.connect(
            endpoint, tls: nil, on: loop, within: Self.answerTime, limits: limits)
        client = made
        return made
    }
}
