import Glibc
import TomboloAPNs
package import TomboloCore
import TomboloHTTP

/// An app whose files are read and whose names are valid, so pushes for it can be signed and
/// addressed. Whether Apple knows the key is not checked, because only Apple's answer shows it.
package struct CheckedApp: Sendable {
    let app: Configuration.App
    let signer: ProviderTokenSigner
    /// The bytes of the `.p8` file, to compare keys.
    let p8: [UInt8]
    /// Where pushes are sent. The upstream's number is the app's place in the configuration.
    let upstream: APNsConfiguration
    /// Where channels are managed; nil means at Apple.
    let channels: APNsEndpoint?

    /// - Parameters:
    ///   - place: the app's place in the configuration, for the pointers of findings.
    ///   - number: the upstream's number; nil means `place`.
    ///   - connectEvery: the longest time between two attempts to connect.
    package init(
        _ app: Configuration.App, at place: Int, upstream number: UpstreamNumber? = nil,
        connectEvery: Duration = ReconnectBackOff.longest
    ) throws(ConfigurationFaults) {
        let pointer = "/apps/\(place)"
        var findings: [ConfigurationFinding] = []
        let authorities = Self.authorities(app, pointer, &findings)
        let endpoint = Self.endpoint(app.endpoint, "\(pointer)/endpoint", &findings)
        let channels = Self.endpoint(
            app.channelsEndpoint, "\(pointer)/channels_endpoint", &findings)
        let upstream = Self.made("\(pointer)/id", "write the app's CFBundleIdentifier", &findings) {
            () throws(APNsConfigurationError) in
            try APNsConfiguration(
                upstream: number ?? UpstreamNumber(Int32(place)), bundleID: app.id,
                environment: app.environment,
                endpoint: endpoint, authorities: authorities, connectEvery: connectEvery)
        }
        let p8 = Self.secret(
            app.keyFile, "\(pointer)/key_file", &findings, origin: Self.originOfKeys)
        let signer = Self.signer(app, p8, pointer, &findings)
        guard findings.isEmpty, let upstream, let p8, let signer else {
            throw ConfigurationFaults(findings: findings)
        }
        (self.app, self.p8, self.signer, self.upstream) = (app, p8, signer, upstream)
        self.channels = channels ?? endpoint
    }

    /// True for the same app in the same environment, even with another key.
    func isUpstream(of other: Configuration.App) -> Bool { app.isUpstream(of: other) }

    // MARK: Parts of an app

    /// Returns the value of `make`; if it throws, adds a finding and returns nil.
    private static func made<Value>(
        _ pointer: String, _ remedy: String, _ findings: inout [ConfigurationFinding],
        _ make: () throws(APNsConfigurationError) -> Value
    ) -> Value? {
        do {
            return try make()
        } catch {
            findings.append(.init(pointer: pointer, cause: error.description, remedy: remedy))
            return nil
        }
    }

    private static func endpoint(
        _ origin: Origin?, _ pointer: String, _ findings: inout [ConfigurationFinding]
    ) -> APNsEndpoint? {
        guard let origin else { return nil }
        return made(pointer, "write an origin such as \"https://127.0.0.1:8443\"", &findings) {
            () throws(APNsConfigurationError) in try APNsEndpoint(url: origin.description)
        }
    }

    /// Returns the signer; nil if an id or the key is wrong. Adds a finding for each wrong id. A
    /// key that cannot be read already has its finding.
    private static func signer(
        _ app: Configuration.App, _ p8: [UInt8]?, _ pointer: String,
        _ findings: inout [ConfigurationFinding]
    ) -> ProviderTokenSigner? {
        var isWrong = false
        for error in ProviderTokenSigner.objections(keyID: app.keyID, teamID: app.teamID) {
            isWrong = true
            let name = if case .teamID = error { "team_id" } else { "key_id" }
            findings.append(
                .init(
                    pointer: "\(pointer)/\(name)", cause: error.description,
                    remedy: "copy it from Apple's developer account"))
        }
        guard let p8, !isWrong else { return nil }
        do {
            return try ProviderTokenSigner(keyID: app.keyID, teamID: app.teamID, p8: p8)
        } catch {
            let reason = if case .key(let error) = error { "\(error)" } else { "\(error)" }
            findings.append(
                .init(
                    pointer: "\(pointer)/key_file",
                    cause: "\(app.keyFile) is not a push key: \(reason)",
                    remedy: "copy the AuthKey_….p8 as Apple gave it, byte for byte; Apple gives it "
                        + "once: where it is lost, make another key"))
            return nil
        }
    }

    private static func authorities(
        _ app: Configuration.App, _ pointer: String, _ findings: inout [ConfigurationFinding]
    ) -> [UInt8]? {
        guard let file = app.caFile else { return nil }
        let pointer = "\(pointer)/ca_file"
        guard let bytes = readable(file, pointer, &findings) else { return nil }
        do {
            _ = try TLSClientConfiguration(trust: .certificates(bytes))
            return bytes
        } catch {
            findings.append(
                .init(
                    pointer: pointer, cause: "\(file): \(error.message)",
                    remedy: "name the file that tombolo sim --ca-out FILE writes"))
            return nil
        }
    }

    // MARK: Files

    private static let originOfKeys =
        "; Apple gives the .p8 out once, in the developer account under Keys; a relative path begins "
        + "at the configuration file's folder"

    /// Returns the file's bytes. If it cannot be read, adds a finding and returns nil.
    ///
    /// - Parameter origin: a hint for the remedy, where such a file comes from.
    static func readable(
        _ path: String, _ pointer: String, _ findings: inout [ConfigurationFinding],
        origin: String = ""
    ) -> [UInt8]? {
        do {
            return try FileBytes.readRegular(path)
        } catch {
            // systemd creates these files when the unit starts.
            let remedy =
                path.hasPrefix(credentials)
                ? "before the service's first start: --credentials DIR, such as /etc/tombolo/keys"
                : "ls -l \(path)\(origin)"
            findings.append(
                .init(
                    pointer: pointer, cause: "\(path) cannot be read: \(error)", remedy: remedy))
            return nil
        }
    }

    /// Where systemd puts a service's credentials. There, group rights are allowed: the mode shows
    /// the access list's entry for the service's user as rights of the group.
    static let credentials = "/run/credentials/"

    /// True if users other than the owner (and systemd's service) may use a file of this mode.
    static func isOpenToOthers(_ mode: mode_t, at path: String) -> Bool {
        let isCredential = path.hasPrefix(credentials) && !path.contains("/../")
        return mode & (isCredential ? 0o007 : 0o077) != 0
    }

    /// Like `readable`, for a secret file. Others than its owner must not be able to use it.
    static func secret(
        _ path: String, _ pointer: String, _ findings: inout [ConfigurationFinding],
        origin: String = ""
    ) -> [UInt8]? {
        var status = stat()
        if stat(path, &status) == 0, isOpenToOthers(status.st_mode, at: path) {
            findings.append(
                .init(
                    pointer: pointer, cause: "\(path) is a secret that others may read",
                    remedy: "chmod 600 \(path)"))
            return nil
        }
        return readable(path, pointer, &findings, origin: origin)
    }
}

extension CheckedApp {
    static func all(of configuration: Configuration) throws(ConfigurationFaults) -> [CheckedApp] {
        try configuration.apps.enumerated().map { (place, app) throws(ConfigurationFaults) in
            try CheckedApp(app, at: place)
        }
    }
}
