package import TomboloCore
import TomboloJSON

/// One upstream: an app in one environment, and the endpoint of its pushes.
package struct APNsConfiguration: Sendable {
    /// Maximum number of connections that may be configured for one upstream. Apple documents no
    /// limit. One carries thousands of pushes a second, so a higher number is a mistake.
    package static let connectionsMax = 64
    /// Default time from `APNsClient.send` until a push's answer.
    package static let pushDeadline = Duration.seconds(10)

    package let upstream: UpstreamNumber
    package let bundleID: String
    package let endpoint: APNsEndpoint
    /// The only trusted authorities, as PEM certificates; nil means the system's.
    package let authorities: [UInt8]?
    /// Maximum number of connections at once.
    package let connections: Int
    /// Time from `send` until a push's answer; then its outcome is unknown. More than zero.
    package let pushDeadline: Duration
    /// Longest time between two attempts to connect.
    package let connectEvery: Duration

    /// A nil `endpoint` means Apple's endpoint of `environment`.
    package init(
        upstream: UpstreamNumber, bundleID: String, environment: APNsEnvironment,
        endpoint: APNsEndpoint? = nil, authorities: [UInt8]? = nil, connections: Int = 1,
        pushDeadline: Duration = APNsConfiguration.pushDeadline,
        connectEvery: Duration = ReconnectBackOff.longest
    ) throws(APNsConfigurationError) {
        guard Self.isBundleID(bundleID) else { throw .bundleID(bundleID) }
        guard (1...Self.connectionsMax).contains(connections) else {
            throw .connections(connections)
        }
        self.upstream = upstream
        self.bundleID = bundleID
        self.endpoint = endpoint ?? .apple(environment)
        self.authorities = authorities
        self.connections = connections
        self.pushDeadline = pushDeadline
        self.connectEvery = connectEvery
    }

    /// Time to connect, with the handshake, over all addresses of the name. It is shorter than a
    /// push's deadline, so that a push that waits gets the reason why there is no connection.
    package var connectDeadline: Duration { pushDeadline / 2 }

    /// True if the text has only letters, digits, hyphens and periods (CFBundleIdentifier) and no
    /// topic suffix.
    private static func isBundleID(_ id: String) -> Bool {
        (1...255).contains(id.utf8.count)
            && !APNsPushType.allCases.contains {
                !$0.topicSuffix.isEmpty && id.hasSuffix($0.topicSuffix)
            }
            && id.utf8.allSatisfy { $0.isAlphanumeric || ".-".utf8.contains($0) }
    }
}
