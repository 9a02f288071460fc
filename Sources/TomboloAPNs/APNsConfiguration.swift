package import TomboloCore

/// One lane: an app in one environment, and where its pushes go.
package struct APNsConfiguration: Sendable {
    /// Connections one lane may open. Apple documents no limit; more than this from one relay is a
    /// mistake rather than a wish (one carries thousands of pushes a second).
    package static let connectionsMax = 64
    /// How long a push may take from hand-over to answer.
    package static let pushDeadline = Duration.seconds(10)

    package let lane: LaneNumber
    package let bundleID: String
    package let endpoint: APNsEndpoint
    /// Certificates in PEM of the authorities to trust, and no others; nil: the system's.
    package let authorities: [UInt8]?
    /// Most connections at once.
    package let connections: Int
    /// From hand-over to answer; after it a push's outcome is unknown. Above zero.
    package let pushDeadline: Duration
    /// The longest time between two tries to connect.
    package let connectEvery: Duration

    /// `endpoint` nil is Apple's of `environment`.
    package init(
        lane: LaneNumber, bundleID: String, environment: APNsEnvironment,
        endpoint: APNsEndpoint? = nil, authorities: [UInt8]? = nil, connections: Int = 1,
        pushDeadline: Duration = APNsConfiguration.pushDeadline,
        connectEvery: Duration = ReconnectBackOff.longest
    ) throws(APNsConfigurationError) {
        guard Self.isBundleID(bundleID) else { throw .bundleID(bundleID) }
        guard (1...Self.connectionsMax).contains(connections) else {
            throw .connections(connections)
        }
        self.lane = lane
        self.bundleID = bundleID
        self.endpoint = endpoint ?? .apple(environment)
        self.authorities = authorities
        self.connections = connections
        self.pushDeadline = pushDeadline
        self.connectEvery = connectEvery
    }

    /// For connecting and the handshake, over all addresses of the name: less than a push's own
    /// deadline, so that the push that waits is told why there is no connection.
    package var connectDeadline: Duration { pushDeadline / 2 }

    /// CFBundleIdentifier: letters, digits, hyphens and periods. A suffix of a topic is no part of
    /// it.
    private static func isBundleID(_ id: String) -> Bool {
        (1...255).contains(id.utf8.count)
            && !APNsPushType.allCases.contains {
                !$0.topicSuffix.isEmpty && id.hasSuffix($0.topicSuffix)
            }
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
