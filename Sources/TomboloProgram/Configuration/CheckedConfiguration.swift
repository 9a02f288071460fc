import Glibc
import TomboloCore
import TomboloHTTP

/// A configuration with which a relay can start: its files are read, keys and certificates are
/// parsed, and directory and address are tested.
///
/// `serve`, `config check` and `doctor` all use it, so they report the same faults. It does not
/// check whether the port is free, whether another relay uses the directory, or whether Apple knows
/// the keys, because this can change while the configuration stays the same.
struct CheckedConfiguration: Sendable {
    let configuration: Configuration
    /// The listener's certificate. A reload replaces it.
    var tls: TLSServerConfiguration?
    /// The apps in the configuration's order.
    let apps: [CheckedApp]

    init(_ configuration: Configuration) throws(ConfigurationFaults) {
        let home = configuration.database?.findings() ?? Self.data(configuration.data)
        var findings = Self.listener(configuration.listen) + home
        tls = configuration.tls.flatMap { Self.tls($0, &findings) }
        var apps: [CheckedApp] = []
        for (place, app) in configuration.apps.enumerated() {
            do {
                apps.append(
                    try CheckedApp(
                        app, at: place,
                        connectEvery: .nanoseconds(configuration.limits.probeMax.nanoseconds)))
            } catch {
                findings += error.findings
            }
        }
        guard findings.isEmpty else { throw ConfigurationFaults(findings: findings) }
        self.configuration = configuration
        self.apps = apps
    }

    /// Findings about which an operator should know, but with which the relay can start.
    func notices(at now: Instant) -> [ConfigurationFinding] {
        var notices = certificateNotice(at: now).map { [$0] } ?? []
        if apps.isEmpty {
            notices.append(
                ConfigurationFinding(
                    pointer: "/apps",
                    cause: "no app is configured: events are stored, and nothing is pushed",
                    remedy: "add the app to \"apps\": id, team_id, key_id and key_file"))
        }
        return notices
    }

    // MARK: The certificate

    /// The operator is warned this long before the end, unless the certificate's validity is short.
    private static let noticeTime = Span.hours(21 * 24)
    /// A certificate that is valid for some days only is reported in the last third of this time.
    private static let noticeShare: Int64 = 3

    /// A finding if clients refuse the listener's certificate now, or will soon.
    func certificateNotice(at now: Instant) -> ConfigurationFinding? {
        guard let tls, let path = configuration.tls?.certificate else { return nil }
        let (begins, ends) = (
            Instant(seconds: tls.validity.lowerBound), Instant(seconds: tls.validity.upperBound)
        )
        let notice = min(
            Self.noticeTime, Span(nanoseconds: (ends - begins).nanoseconds / Self.noticeShare))
        let cause: String
        if ends < now {
            cause = "the certificate expired at \(ends.rfc3339): clients refuse it"
        } else if begins > now {
            cause = "the certificate is not valid before \(begins.rfc3339): clients refuse it"
        } else if ends - now < notice {
            let hours = (ends - now).nanoseconds / Span.hours(1).nanoseconds
            let left = hours < 48 ? "\(hours) hours" : "\(hours / 24) days"
            cause = "the certificate expires in \(left), at \(ends.rfc3339)"
        } else {
            return nil
        }
        let remedy =
            begins > now
            ? "compare this machine's clock: timedatectl"
            : "renew \(path), then: tombolo config reload"
        return ConfigurationFinding(
            pointer: "/tls/certificate", cause: "\(path): \(cause)", remedy: remedy)
    }

    /// The listener's certificate and key; if they cannot be used, adds findings and returns nil.
    static func tls(
        _ files: Configuration.TLS, _ findings: inout [ConfigurationFinding]
    ) -> TLSServerConfiguration? {
        let chain = CheckedApp.readable(files.certificate, "/tls/certificate", &findings)
        let key = CheckedApp.secret(files.key, "/tls/key", &findings)
        guard let chain, let key else { return nil }
        do {
            return try TLSServerConfiguration(certificateChain: chain, privateKey: key)
        } catch {
            findings.append(
                .init(
                    pointer: "/tls/certificate",
                    cause: "\(files.certificate) and \(files.key) cannot be used: \(error.message)",
                    remedy: Self.look(at: files, error.message)))
            return nil
        }
    }

    /// A command with which an operator can see the fault.
    private static func look(at files: Configuration.TLS, _ fault: String) -> String {
        let certificate = "openssl x509 -in \(files.certificate) -noout -pubkey"
        let key = "openssl pkey -in \(files.key) -pubout"
        if fault.contains("do not belong together") {
            return "\(certificate); \(key): both must print the same"
        }
        return fault.contains("key") ? key : certificate
    }

    // MARK: Address and directory

    private static func listener(_ address: SocketAddressText) -> [ConfigurationFinding] {
        do {
            try Listener.tryAddress(of: ListenAddress(host: address.host, port: Int(address.port)))
            return []
        } catch {
            return [
                ConfigurationFinding(
                    pointer: "/listen", cause: "\(error)",
                    remedy: "write an address of this machine (ip address), or 127.0.0.1:8780")
            ]
        }
    }

    /// Checks that the directory exists and is writable, or that it can be made. `serve` makes only
    /// the last part of the path.
    private static func data(_ path: String?) -> [ConfigurationFinding] {
        guard let path else {
            return [
                ConfigurationFinding(
                    pointer: "/data", cause: "there is no data directory",
                    remedy:
                        "--data /var/lib/tombolo, or \"data\" (or \"database\") in the --config "
                        + "file")
            ]
        }
        func finding(_ cause: String, _ remedy: String) -> [ConfigurationFinding] {
            [ConfigurationFinding(pointer: "/data", cause: "\(path) \(cause)", remedy: remedy)]
        }
        if let isDirectory = isDirectory(path) {
            guard isDirectory else { return finding("is not a directory", "ls -l \(path)") }
            guard access(path, R_OK | W_OK | X_OK) == 0 else {
                return finding("cannot be written to: \(SystemError(errno))", "ls -ld \(path)")
            }
            return DataModes(path, isDryRun: true).findings
        }
        let parent = parent(of: path)
        guard isDirectory(parent) == true else {
            return finding("cannot be made: there is no directory \(parent)", "mkdir -p \(parent)")
        }
        guard access(parent, W_OK | X_OK) == 0 else {
            return finding("cannot be made: \(SystemError(errno))", "ls -ld \(parent)")
        }
        return []
    }

    /// True for a directory, false for another file, nil if the path does not exist.
    private static func isDirectory(_ path: String) -> Bool? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    private static func parent(of path: String) -> String {
        let trimmed = path.reversed().drop { $0 == "/" }.reversed()
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}
