package import TomboloCore
import TomboloHTTP
import TomboloJSON
package import TomboloLoop

/// Creates, reads, lists and deletes the broadcast channels of one app in one environment at Apple.
///
/// Source: Apple, *Sending channel management requests to APNs*. One connection is opened on demand
/// and kept while it works: channels are few. Each call ends within `deadline` and reports Apple's
/// answer. A request is repeated only after an expired provider token.
///
/// `@unchecked Sendable`: used on its loop's thread only.
package final class APNsChannels: @unchecked Sendable {
    /// Maximum time from a call to its answer.
    package static let deadline = Duration.seconds(10)

    private let bundleID: String
    private let endpoint: APNsEndpoint
    private let key: ProviderKey
    private let loop: EpollLoop
    private let tls: TLSClientConfiguration?
    private var http: HTTP2Client?
    /// The provider token that the connection carries. Apple refuses another within 20 minutes.
    private var generation: ProviderToken.Generation?

    /// A nil `endpoint` means Apple's endpoint of `environment`. For `authorities` see
    /// `APNsConfiguration`.
    package init(
        bundleID: String, environment: APNsEnvironment, endpoint: APNsEndpoint?,
        authorities: [UInt8]?, key: ProviderKey, loop: EpollLoop
    ) throws(APNsConfigurationError) {
        self.bundleID = bundleID
        self.endpoint = endpoint ?? .appleChannels(environment)
        self.key = key
        self.loop = loop
        guard self.endpoint.isSecure else {
            tls = nil
            return
        }
        do throws(TLSError) {
            tls = try TLSClientConfiguration(
                trust: authorities.map { .certificates($0) } ?? .system)
        } catch {
            throw .authorities(error.message)
        }
    }

    /// Creates a channel and returns its id.
    package func create(_ storage: Channel.Storage) async throws(ChannelFailure) -> String {
        let body = JSON.object { body in
            body.member("message-storage-policy", Int64(storage.rawValue))
            body.member("push-type", "LiveActivity")
        }
        let answer = try await ask("POST", "channels", body: body.bytes)
        guard answer.status == 201, let id = answer.fields["apns-channel-id"], !id.isEmpty else {
            throw failure(answer)
        }
        return id
    }

    /// Storage policy of a channel; nil if Apple knows no such channel.
    package func read(_ id: String) async throws(ChannelFailure) -> Channel.Storage? {
        let answer = try await ask("GET", "channels", channel: id)
        if isUnknown(answer) { return nil }
        guard answer.status == 200, let view = document(answer)?.root,
            let policy = view["message-storage-policy"]?.integer
        else { throw failure(answer) }
        return Channel.Storage(rawValue: UInt8(clamping: policy))
    }

    /// Deletes a channel permanently. Succeeds if there is no such channel.
    package func delete(_ id: String) async throws(ChannelFailure) {
        let answer = try await ask("DELETE", "channels", channel: id)
        guard answer.status == 204 || isUnknown(answer) else { throw failure(answer) }
    }

    /// The ids of all channels of the app, including those that others created.
    package func list() async throws(ChannelFailure) -> [String] {
        let answer = try await ask("GET", "all-channels")
        guard answer.status == 200, let list = document(answer)?.root["channels"] else {
            throw failure(answer)
        }
        return list.elements.compactMap(\.string)
    }

    // MARK: Asking

    private func ask(
        _ method: String, _ resource: String, channel: String? = nil, body: [UInt8] = []
    ) async throws(ChannelFailure) -> HTTPAnswer {
        loop.checkIsolated()
        let first = try await askOnce(method, resource, channel, body)
        guard APNsAnswer(status: first.status, body: first.body).isExpiredToken,
            let generation, key.expired(generation) == .newToken
        else { return first }
        close()
        return try await askOnce(method, resource, channel, body)
    }

    private func askOnce(
        _ method: String, _ resource: String, _ channel: String?, _ body: [UInt8]
    ) async throws(ChannelFailure) -> HTTPAnswer {
        let authorization = key.current()
        let http = try await connection(authorization.generation)
        var fields: HTTPFields = [:]
        fields.append("authorization", authorization.value, indexing: .neverIndexed)
        if let channel { fields.append("apns-channel-id", channel) }
        if !body.isEmpty { fields.append("content-type", "application/json") }
        let request = HTTP2Request(
            method: method, scheme: endpoint.isSecure ? "https" : "http",
            authority: endpoint.authority, path: "/1/apps/\(bundleID)/\(resource)",
            fields: fields, body: body)
        switch await http.perform(request, timeout: Self.deadline) {
        case .answered(let answer):
            if APNsAnswer(status: answer.status, body: answer.body).retiresConnection { close() }
            return answer
        case .notProcessed(let failure):
            close()
            throw .unreachable("\(endpoint): \(failure)")
        case .unknown(let failure):
            close()
            throw .unknown("\(endpoint): \(failure)")
        }
    }

    private func connection(
        _ generation: ProviderToken.Generation
    ) async throws(ChannelFailure) -> HTTP2Client {
        if let http, http.state == .open, self.generation == generation { return http }
        close()
        do throws(ConnectionError) {
            let made = try await HTTP2Client.connect(
                HTTP2Endpoint(
                    scheme: endpoint.isSecure ? .https : .http, host: endpoint.host,
                    port: Int(endpoint.port)),
                tls: tls, on: loop, within: Self.deadline)
            http = made
            self.generation = generation
            return made
        } catch {
            throw .unreachable("\(endpoint): \(error)")
        }
    }

    /// Drains the connection. The next call opens a new one.
    package func close() {
        http?.drain()
        http = nil
    }

    // MARK: Answers

    private func isUnknown(_ answer: HTTPAnswer) -> Bool {
        answer.status == 400
            && APNsAnswerBody(answer.body).reason == "ChannelNotRegistered"
    }

    private func failure(_ answer: HTTPAnswer) -> ChannelFailure {
        let read = APNsAnswer(status: answer.status, body: answer.body)
        return .refused(status: read.status, reason: read.reason)
    }

    private func document(_ answer: HTTPAnswer) -> JSONDocument? {
        // A body that cannot be parsed is ignored; then only the status counts.
        try? JSONDocument(answer.body)
    }
}
