package import TomboloHTTP
import TomboloLoop

/// Makes an upstream's connections. On the upstream's loop only.
package protocol APNsDialer: Sendable {
    /// Connects and completes the handshakes within `time`, or throws.
    func connect(within time: Duration) async throws(ConnectionError) -> HTTP2Client
}

/// Connects to the endpoint over TCP, with TLS unless the endpoint is in clear text.
struct TCPDialer: APNsDialer {
    private let endpoint: APNsEndpoint
    private let tls: TLSClientConfiguration?
    private let loop: EpollLoop

    init(_ configuration: APNsConfiguration, loop: EpollLoop) throws(APNsConfigurationError) {
        endpoint = configuration.endpoint
        self.loop = loop
        guard configuration.endpoint.isSecure else {
            tls = nil
            return
        }
        do throws(TLSError) {
            tls = try TLSClientConfiguration(
                trust: configuration.authorities.map { .certificates($0) } ?? .system)
        } catch {
            throw .authorities(error.message)
        }
    }

    func connect(within time: Duration) async throws(ConnectionError) -> HTTP2Client {
        try await HTTP2Client.connect(
            HTTP2Endpoint(
                scheme: endpoint.isSecure ? .https : .http, host: endpoint.host,
                port: Int(endpoint.port)),
            tls: tls, on: loop, within: time)
    }
}
