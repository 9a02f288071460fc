import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloServer

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
        var id = ""
        var tenant = TenantID.main
        /// Ten characters each, as Apple's developer pages tell them.
        var teamID = ""
        var keyID = ""
        /// Path of the `.p8`.
        var keyFile = ""
        var environment = APNsEnvironment.production
        /// Somewhere else than Apple: a simulator or a stand-in.
        var endpoint: Origin?
        /// Where its broadcast channels are managed; nil: Apple's, or `endpoint`.
        var channelsEndpoint: Origin?
        /// Path of the certificate authority to trust there.
        var caFile: String?
    }

    var listen = SocketAddressText(host: "127.0.0.1", port: 8780)
    /// The data directory; nil until somebody says where.
    var data: String?
    /// In the place of `data`.
    var database: Database?
    var tls: TLS?
    /// Whether a listener that others can reach may speak clear text.
    var isInsecure = false
    /// The lines on stderr.
    var logFormat = OperatorLogFormat.text
    var apps: [App] = []
    var budgets = Budgets()
    /// How long history is kept: `limits.history` and `limits.facts`.
    var retention = LogRetention.standard
    /// The core's bounds: of `limits`, those that it has a use for.
    var limits = Limits()
    /// The bounds of the HTTP server: of `limits`, those of connections.
    var server = HTTPServerLimits()
    /// The bounds of the doors: of `limits`, those of keys.
    var doors = DoorsConfiguration(version: Program.version)

    /// A log is in one place.
    var homeObjection: String? {
        data == nil || database == nil
            ? nil
            : "there are \"data\" and \"database\", and a log is "
                + "in one of them"
    }

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
        func isOfWhole(_ row: ConfigurationRow) -> Bool {
            !row.isReloaded && !row.pointer.hasPrefix("/apps/")
        }
        var before: [String: String] = [:]
        for row in old.rows where isOfWhole(row) { before[row.pointer] = row.value.description }
        var names = rows.filter { row in
            isOfWhole(row) && before.removeValue(forKey: row.pointer) != row.value.description
        }.map(\.pointer)
        names += before.keys.sorted()
        if (tls == nil) != (old.tls == nil) { names.append("/tls") }
        for (place, app) in apps.enumerated() {
            guard let known = old.apps.first(where: { $0.isLane(of: app) }) else {
                names.append("/apps/\(place)")
                continue
            }
            names += App.settings.filter {
                $0.change == .restart && $0.value(of: app) != $0.value(of: known)
            }.map { "/apps/\(place)/\($0.name)" }
        }
        return names.map { name in
            let words = name.split(separator: "/").joined(separator: ".")
            return "\(words) differs from what the relay runs with: a restart applies it"
        }
    }
}
