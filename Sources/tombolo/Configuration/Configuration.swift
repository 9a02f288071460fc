import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloServer

/// The configuration of a relay: parsed and checked once.
///
/// The files that it names are not read here.
struct Configuration: Sendable {
    struct TLS: Hashable, Sendable {
        /// Paths of PEM files: the certificate chain and its private key.
        var certificate: String
        var key: String
    }

    /// One app in one of Apple's environments.
    struct App: Hashable, Sendable {
        var id = ""
        var tenant = TenantID.main
        /// Team id and key id: ten characters each, as on Apple's developer pages.
        var teamID = ""
        var keyID = ""
        /// Path of the `.p8`.
        var keyFile = ""
        var environment = APNsEnvironment.production
        /// Where pushes go instead of to Apple: a simulator or a stand-in.
        var endpoint: Origin?
        /// Where broadcast channels are managed; nil: at `endpoint`, or at Apple.
        var channelsEndpoint: Origin?
        /// Path of the certificate authority to trust at these endpoints.
        var caFile: String?
    }

    var listen = SocketAddressText(host: "127.0.0.1", port: 8780)
    /// The data directory; nil if it is not configured.
    var data: String?
    /// The database that keeps the log instead of `data`.
    var database: Database?
    var tls: TLS?
    /// True if a listener that others can reach may use clear text.
    var isInsecure = false
    /// Format of the lines on stderr.
    var logFormat = OperatorLogFormat.text
    var apps: [App] = []
    var budgets = Budgets()
    /// How long history is kept: `limits.history` and `limits.facts`.
    var retention = LogRetention.standard
    /// The bounds of the core, from `limits`.
    var limits = Limits()
    /// The bounds of the HTTP server, from the connection values in `limits`.
    var server = HTTPServerLimits()
    /// The bounds of the API's doors, from the key values in `limits`.
    var doors = DoorsConfiguration(version: Program.version)

    /// An objection if both `data` and `database` are set; nil otherwise.
    var homeObjection: String? {
        data == nil || database == nil
            ? nil
            : "there are \"data\" and \"database\", and a log is "
                + "in one of them"
    }

    /// An objection if a listener that others can reach uses clear text; nil otherwise.
    var listenerObjection: String? {
        guard tls == nil, !isInsecure, !listen.isLoopback else { return nil }
        return "\(listen) can be reached from other machines and has no tls"
    }
}

extension Configuration.App {
    /// True for the same app in the same environment, even with another key.
    func isUpstream(of other: Self) -> Bool {
        id == other.id && tenant == other.tenant && environment == other.environment
    }
}

extension Configuration {
    /// A sentence for each change that needs a restart. Push keys and certificates do not need one.
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
            guard let known = old.apps.first(where: { $0.isUpstream(of: app) }) else {
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
