import TomboloContract
import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// A phone's HTTP/2 connection to the relay. It connects when there is something to send, and again
/// after the connection has ended.
final class RelayLink: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let origin: RelayOrigin
    private let endpoint: HTTP2Endpoint
    private let fields: HTTPFields
    private let tls: TLSClientConfiguration?
    private let loop: EpollLoop
    private var client: HTTP2Client?
    /// Number of connections made. After a new connection the relay may have restarted.
    private(set) var connectionsMade = 0

    /// Time to wait for an answer before a retry.
    private static let answerTimeMax: Duration = .seconds(10)
    private static let connectTimeMax: Duration = .seconds(5)

    init(_ relay: SimulatorConfiguration.Relay, loop: EpollLoop) throws {
        origin = try RelayOrigin(relay.origin)
        endpoint = HTTP2Endpoint(
            scheme: origin.isSecure ? .https : .http, host: origin.host, port: origin.port)
        var fields = HTTPFields()
        fields.append("authorization", "Bearer " + relay.key, indexing: .neverIndexed)
        fields.append("content-type", "application/json")
        self.fields = fields
        let trust = relay.caPEM.map(TLSClientConfiguration.Trust.certificates) ?? .system
        tls = origin.isSecure ? try TLSClientConfiguration(trust: trust) : nil
        self.loop = loop
    }

    /// The relay's answer.
    struct Answer: Sendable {
        var status: Int
        var etag: String?
        var body: [UInt8]
        /// The `code` of a problem; nil for other answers.
        var code: String? { (try? JSONDocument(body))?.root["code"]?.string }
    }

    /// `PUT /v1<path>`; at most one at a time.
    func put(_ path: String, _ body: [UInt8]) async -> UploadQueue.Outcome {
        guard let answer = await perform("PUT", path, fields, body, within: Self.answerTimeMax)
        else { return .unreachable }
        return .answered(status: answer.status, code: answer.code)
    }

    /// `GET /v1<path>`. With an `etag` the answer may be 304. Returns nil if none came in time.
    func get(_ path: String, etag: String?, within time: Duration) async -> Answer? {
        var fields = fields
        if let etag { fields.append("if-none-match", etag) }
        return await perform("GET", path, fields, [], within: time)
    }

    /// `POST /v1<path>`. With an idempotency key, repeated requests count once. Returns nil if no
    /// answer came in time.
    func post(
        _ path: String, _ body: [UInt8], key: String? = nil, within time: Duration
    ) async -> Answer? {
        var fields = fields
        if let key { fields.append("idempotency-key", key) }
        return await perform("POST", path, fields, body, within: time)
    }

    private func perform(
        _ method: String, _ path: String, _ fields: HTTPFields, _ body: [UInt8],
        within time: Duration
    ) async -> Answer? {
        guard let client = await connected() else { return nil }
        let request = HTTP2Request(
            method: method, scheme: endpoint.scheme.rawValue, authority: origin.authority,
            path: "/v1" + path, fields: fields, body: body)
        switch await client.perform(request, timeout: time) {
        case .answered(let answer):
            return Answer(
                status: answer.status, etag: answer.fields["etag"], body: answer.body)
        case .notProcessed, .unknown:
            close()
            return nil
        }
    }

    func close() {
        client?.close()
        client = nil
    }

    private func connected() async -> HTTP2Client? {
        if let client, case .open = client.state { return client }
        close()
        do throws(ConnectionError) {
            let made = try await HTTP2Client.connect(
                endpoint, tls: tls, on: loop, within: Self.connectTimeMax)
            connectionsMade += 1
            client = made
            return made
        } catch {
            return nil  // The relay may be down: the caller retries.
        }
    }
}
