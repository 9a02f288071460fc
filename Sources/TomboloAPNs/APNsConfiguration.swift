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
    /// PEM file of the authority that signed the endpoint's certificate; nil: the system's.
    package let caFile: String?
    /// Most connections at once.
    package let connections: Int
    /// From hand-over to answer; after it a push's outcome is unknown. Above zero.
    package let pushDeadline: Duration

    /// `endpoint` nil is Apple's of `environment`.
    package init(
        lane: LaneNumber, bundleID: String, environment: APNsEnvironment,
        endpoint: APNsEndpoint? = nil, caFile: String? = nil, connections: Int = 1,
        pushDeadline: Duration = APNsConfiguration.pushDeadline
    ) throws(APNsConfigurationError) {
        guard Self.isBundleID(bundleID) else { throw .bundleID(bundleID) }
        guard (1...Self.connectionsMax).contains(connections) else {
            throw .connections(connections)
        }
        self.lane = lane
        self.bundleID = bundleID
        self.endpoint = endpoint ?? .apple(environment)
        self.caFile = caFile
        self.connections = connections
        self.pushDeadline = pushDeadline
    }

    /// CFBundleIdentifier: letters, digits, hyphens and periods. A suffix of a topic is no part of it.
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
