package import TomboloCore
import TomboloEventLog
import TomboloHTTP
import TomboloJSON
import TomboloServer

/// The configuration of a relay. It is parsed and checked once.
///
/// The files that it names are not read here.
package struct Configuration: Sendable {
    struct TLS: Hashable, Sendable {
        /// Paths of PEM files: the certificate chain and its private key.
        var certificate: String
        var key: String
    }

    /// One app in one of Apple's environments.
    package struct App: Hashable, Sendable {
        var id = ""
        var tenant = TenantID.main
        /// Team id and key id. Each has ten characters, as on Apple's developer pages.
        var teamID = ""
        var keyID = ""
        /// Path of the `.p8`.
        var keyFile = ""
        var environment = APNsEnvironment.production
        /// Where pushes are sent in place of Apple, for example to a simulator; nil means to Apple.
        var endpoint: Origin?
        /// Where broadcast channels are managed; nil means at `endpoint`, or else at Apple.
        var channelsEndpoint: Origin?
        /// Path of the certificate authority to trust at these endpoints.
        var caFile: String?

        /// An app with the values that a program chooses; others keep their defaults.
        package init(
            id: String = "", tenant: TenantID = .main, teamID: String = "", keyID: String = "",
            keyFile: String = "", environment: APNsEnvironment = .production,
            endpoint: Origin? = nil, caFile: String? = nil
        ) {
            (self.id, self.tenant, self.teamID, self.keyID) = (id, tenant, teamID, keyID)
            (self.keyFile, self.environment) = (keyFile, environment)
            (self.endpoint, self.caFile) = (endpoint, caFile)
        }
    }

    var listen = SocketAddressText(host: "127.0.0.1", port: 8780)
    /// The data directory; nil if it is not configured.
    var data: String?
    /// The database that keeps the log; nil means that `data` keeps it.
    var database: Database?
    var tls: TLS?
    /// True if clear text is allowed even if other machines can reach the listener.
    var isInsecure = false
    /// Format of the lines on stderr.
    var logFormat = OperatorLogFormat.text
    var apps: [App] = []
    var budgets = Budgets()
    /// How long history is kept: `limits.history` and `limits.facts`.
    var retention = LogRetention.standard
    var limits = Limits()
    var server = HTTPServerLimits()
    /// Limits of the API, from the key values in `limits`.
    var doors = DoorsConfiguration(version: Program.version)

    /// Why the place of the log is not clear: both `data` and `database` are set. Nil otherwise.
    var homeObjection: String? {
        data == nil || database == nil
            ? nil
            : "there are \"data\" and \"database\", and a log is "
                + "in one of them"
    }

    /// Why the listener is not safe: clear text that other machines can reach. Nil otherwise.
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
    /// A sentence for each change that takes effect only after a restart. Push keys and
    /// certificates do not need one.
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
