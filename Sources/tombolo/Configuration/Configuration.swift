import TomboloCore
import TomboloEventLog
import TomboloJSON

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
    /// `limits.connections_per_address`; nil: as many as `HTTPServerLimits` says.
    var connectionsPerAddress: Int?
    /// `limits.handshakes_per_second`; nil: as above.
    var handshakesPerSecond: Int?
    /// `limits.refused_keys_per_second`; nil: as many as `DoorsConfiguration` says.
    var refusedKeysPerSecond: Int?
    /// `limits.requests_per_key`; nil: as many as `DoorsConfiguration` says.
    var requestsPerKey: Int?
    /// `limits.tails_per_key`; nil: as above.
    var tailsPerKey: Int?

    /// What clear text on a listener that others can reach is answered with; nil where all is well.
    var listenerObjection: String? {
        guard tls == nil, !isInsecure, !listen.isLoopback else { return nil }
        return "\(listen) can be reached from other machines and has no tls"
    }
}

extension Configuration.App {
    /// Whether it is the same app in the same environment, whatever its key.
    func isLane(of other: Self) -> Bool {
        id == other.id && tenant == other.tenant && environment == other.environment
    }
}

extension Configuration {
    /// A sentence for each difference that a running relay cannot take over. Push keys and
    /// certificates it can.
    func changesForRestart(since old: Configuration) -> [String] {
        func isRelays(_ row: (pointer: String, value: JSON)) -> Bool {
            !row.pointer.hasPrefix("/apps/") && !row.pointer.hasPrefix("/tls/")
        }
        var before: [String: String] = [:]
        for row in old.rows where isRelays(row) { before[row.pointer] = row.value.description }
        var names = rows.filter { row in
            isRelays(row) && before.removeValue(forKey: row.pointer) != row.value.description
        }.map(\.pointer)
        names += before.keys.sorted()
        if (tls == nil) != (old.tls == nil) { names.append("/tls") }
        for (place, app) in apps.enumerated() {
            guard let known = old.apps.first(where: { $0.isLane(of: app) }) else {
                names.append("/apps/\(place)")
                continue
            }
            if app.endpoint != known.endpoint { names.append("/apps/\(place)/endpoint") }
            if app.caFile != known.caFile { names.append("/apps/\(place)/ca_file") }
            if app.channelsEndpoint != known.channelsEndpoint {
                names.append("/apps/\(place)/channels_endpoint")
            }
        }
        return names.map { name in
            let words = name.split(separator: "/").joined(separator: ".")
            return "\(words) differs from what the relay runs with: a restart applies it"
        }
    }
}
