import TomboloHTTP
import TomboloLoop
import TomboloServer

/// Controls the phones of `dev` through the simulator's control port. Uses one connection and
/// reopens it when it has ended. Used on the loop only.
final class SimulatedPhones: PhoneControl, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let origin: Origin
    private let loop: EpollLoop
    private var client: HTTP2Client?

    /// Time limit for an answer. The simulator is on this machine and has all data in memory.
    private static let answerTime = Duration.seconds(5)

    init(_ origin: Origin, loop: EpollLoop) {
        self.origin = origin
        self.loop = loop
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
        case .answered(let answer): return PhoneAnswer(status: answer.status, body: answer.body)
        case .notProcessed(let failure), .unknown(let failure): throw failure
        }
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
