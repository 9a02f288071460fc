import TomboloCore
import TomboloEventLog

/// What a relay is told: parsed and checked once, never checked again.
///
/// It says nothing about the files it names: whether they can be read is seen when they are.
struct Configuration: Sendable {
    struct TLS: Hashable, Sendable {
        /// Paths of PEM files: the chain, and its private key.
        var certificate: String
        var key: String
    }

    /// One app in one of Apple's environments.
    struct App: Hashable, Sendable {
        var id: String
        var tenant: TenantID
        /// Ten characters each, as Apple's developer pages tell them.
        var teamID: String
        var keyID: String
        /// Path of the `.p8`.
        var keyFile: String
        var environment: APNsEnvironment
        /// Somewhere else than Apple: a simulator or a stand-in.
        var endpoint: Origin?
        /// Where its broadcast channels are managed; nil: Apple's, or `endpoint`.
        var channelsEndpoint: Origin?
        /// Path of the certificate authority to trust there.
        var caFile: String?
    }

    var listen: SocketAddressText
    /// The data directory; nil until somebody says where.
    var data: String?
    var tls: TLS?
    /// Whether a listener that others can reach may speak clear text.
    var isInsecure: Bool
    var apps: [App]
    var budgets: Budgets
    /// How long history is kept: `limits.history` and `limits.facts`.
    var retention: LogRetention
    /// The core's bounds: of `limits`, those that it has a use for.
    var limits = Limits()

    /// What clear text on a listener that others can reach is answered with; nil where all is well.
    var listenerObjection: String? {
        guard tls == nil, !isInsecure, !listen.isLoopback else { return nil }
        return "\(listen) can be reached from other machines and has no tls"
    }
}
