import Glibc
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// What a running relay says of itself, for `doctor`: what it takes, its disk and log, its clock,
/// the certificate that it shows, and its ways to Apple.
struct RelayExamination {
    typealias Finding = DoctorCommand.Finding

    let configuration: Configuration
    /// The relay that is asked; nil: one at the configured address.
    var named: Origin?
    /// Of the relay; nil: only what everybody may know is asked.
    let key: String?
    /// The authority to trust there; nil: the configured certificate's own.
    var caFile: String?
    let now: Instant

    /// Less is too little for a checkpoint and what comes meanwhile.
    private static let diskFreeMin = 1e9
    /// Ends of certificates that a date can show, in Unix seconds: until the year 2255.
    private static let endsMax = 0.0...9e9
    /// What a clock may be behind: phones take timestamps that are this much older.
    private static let clockBehindMax = 5.0

    private var origin: Origin {
        if let named { return named }
        let address = configuration.listen
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
        return Origin(
            scheme: configuration.tls == nil ? .http : .https, host: host, port: address.port)
    }

    /// A relay has run with this configuration. One that does not listen is at fault then; a
    /// configuration is examined before the first start too.
    private var hasRun: Bool {
        configuration.data.map { access($0 + "/tombolo.db", F_OK) == 0 } ?? false
    }

    func findings(_ loop: EpollLoop) async -> [Finding] {
        var finding = Finding(app: "", check: "relay", isOK: true, detail: "", fix: nil)
        var trouble: [Finding] = []
        do {
            let client = try await RelayClient.connect(
                to: origin, key: key, caFile: caFile ?? configuration.tls?.certificate, loop: loop)
            defer { client.close() }
            do {
                let answer = try await client.send(RelayRequest("GET", "/readyz"), name: nil)
                finding.detail = "the relay at \(origin) takes events"
                // With a key the metrics say it, to the second.
                if key == nil {
                    trouble = Self.clockTrouble(String(decoding: answer.body, as: UTF8.self))
                }
            } catch {
                finding.isOK = false
                finding.detail = error.cause
                finding.fix = error.remedy ?? "curl -k \(origin)/readyz"
            }
            return [finding] + trouble + (await details(client))
        } catch let error as ProgramError {
            guard error.isConnectionRefused else {
                finding.isOK = false
                finding.detail = error.cause
                finding.fix = error.remedy ?? "curl -k \(origin)/readyz"
                return [finding]
            }
            finding.isOK = named == nil && !hasRun
            finding.detail =
                "no relay listens on \(named?.description ?? configuration.listen.description) now"
            if hasRun { finding.detail += ", though \(configuration.data ?? "") has its log" }
            finding.fix = finding.isOK ? nil : "start it, and read its last lines on stderr"
        } catch {
            finding.isOK = false
            finding.detail = "\(origin): \(error)"
        }
        return [finding]
    }

    private func details(_ client: RelayClient) async -> [Finding] {
        guard key != nil else {
            let detail =
                "disk, log, clock and upstreams are not asked for: that needs a --key of the "
                + "tenant main with scope operate"
            return [Finding(app: "", check: "inside", isOK: true, detail: detail, fix: nil)]
        }
        do throws(ProgramError) {
            let answer = try await client.send(RelayRequest("GET", "/metrics"), name: nil)
            let overview = try await client.send(RelayRequest("GET", "/v1/overview"), name: nil)
            let root = try overview.document().root
            let items = root["attention"].map { Array($0.elements) } ?? []
            return findings(
                MetricsReading(String(decoding: answer.body, as: UTF8.self)),
                closed: items.filter { $0["code"]?.string == "upstream_closed" }
                    .compactMap { $0["text"]?.string }) + items.compactMap(Self.finding)
        } catch {
            return [
                Finding(
                    app: "", check: "inside", isOK: false, detail: error.cause, fix: error.remedy)
            ]
        }
    }

    /// What else the relay says of itself: that nobody could register, and what operators hold
    /// back.
    static func finding(_ item: JSONView) -> Finding? {
        let checks = ["registrations_refused": "devices", "paused": "pause"]
        guard let code = item["code"]?.string, let check = checks[code],
            let text = item["text"]?.string
        else { return nil }
        return Finding(
            app: "", check: check, isOK: check == "pause", detail: OperatorLog.shown(text),
            fix: item["try"]?.elements.compactMap(\.string).first { _ in true }
                .map(OperatorLog.shown))
    }

    /// What the relay's metrics tell.
    ///
    /// - Parameter closed: a sentence for each closed upstream.
    func findings(_ metrics: MetricsReading, closed: [String] = []) -> [Finding] {
        [disk(metrics)] + damage(metrics) + [clock(metrics)] + certificate(metrics)
            + upstreams(metrics, sentences: closed) + authorities(metrics)
    }

    private func disk(_ metrics: MetricsReading) -> Finding {
        var finding = Finding(app: "", check: "disk", isOK: true, detail: "", fix: nil)
        guard let free = metrics.value("tombolo_disk_free_bytes"),
            let log = metrics.value("tombolo_log_bytes")
        else {
            finding.detail =
                "the key sees neither disk nor log: that needs scope operate of the tenant main"
            return finding
        }
        finding.detail =
            "the log has \(Self.size(log)), and \(Self.size(free)) are free on its disk"
        if free < Self.diskFreeMin {
            finding.isOK = false
            finding.fix = "free some space; or lower limits.history and limits.facts"
        }
        return finding
    }

    private func damage(_ metrics: MetricsReading) -> [Finding] {
        guard let rows = metrics.value("tombolo_damaged_rows"), rows > 0 else { return [] }
        return [
            Finding(
                app: "", check: "log", isOK: false,
                detail: "\(Int(rows)) rows of the log are damaged; the relay's log names them",
                fix: "tombolo log verify --data \(configuration.data ?? "DIR")")
        ]
    }

    /// What `/readyz` says of the clock beside "ready": it needs no key.
    private static func clockTrouble(_ body: String) -> [Finding] {
        guard let place = body.firstRange(of: "; clock ") else { return [] }
        let words = body[place.upperBound...].prefix { $0 != "\n" }
        return [
            Finding(
                app: "", check: "clock", isOK: false,
                detail: "the relay's clock is \(words) the timestamps that phones have",
                fix: "timedatectl set-ntp true")
        ]
    }

    private func clock(_ metrics: MetricsReading) -> Finding {
        let behind = metrics.value("tombolo_clock_behind_seconds") ?? 0
        guard behind > Self.clockBehindMax else {
            return Finding(
                app: "", check: "clock", isOK: true,
                detail: "the relay's clock is not behind the timestamps that phones have", fix: nil)
        }
        return Finding(
            app: "", check: "clock", isOK: false,
            detail: "the relay's clock is \(Int(behind)) s behind the timestamps that phones have",
            fix: "timedatectl set-ntp true")
    }

    /// The certificate that the relay shows: it may be an older one than the file has.
    private func certificate(_ metrics: MetricsReading) -> [Finding] {
        guard let end = metrics.value("tombolo_certificate_end_seconds"),
            Self.endsMax.contains(end)
        else { return [] }
        let ends = Instant(seconds: Int64(end))
        var finding = Finding(
            app: "", check: "certificate", isOK: ends > now,
            detail: "the relay shows a certificate that is valid until \(ends.rfc3339)", fix: nil)
        var findings: [ConfigurationFinding] = []
        if named == nil, let files = configuration.tls,
            let tls = CheckedConfiguration.tls(files, &findings),
            Instant(seconds: tls.validity.upperBound) != ends
        {
            finding.isOK = false
            finding.detail += ", and \(files.certificate) has another one"
            finding.fix = "tombolo config reload"
        } else if !finding.isOK {
            finding.fix = "renew the certificate, then: tombolo config reload"
        }
        return [finding]
    }

    private func upstreams(_ metrics: MetricsReading, sentences: [String]) -> [Finding] {
        let states = metrics.series("tombolo_upstreams").filter { $0.labels["state"] == "closed" }
        return states.map { series in
            let app = series.labels["app"] ?? ""
            let environment = series.labels["environment"] ?? ""
            guard series.value > 0 else {
                return Finding(
                    app: app, check: "upstream", isOK: true, detail: "pushes go (\(environment))",
                    fix: nil)
            }
            let sentence = sentences.first { $0.hasPrefix("Pushes of \(app) (\(environment)) ") }
            // The relay trusts the file as it was when it was read.
            let hasAuthority = metrics.series("tombolo_upstream_info").contains {
                $0.labels["app"] == app && $0.labels["ca_file"]?.isEmpty == false
            }
            let isUntrusted = hasAuthority && sentence?.contains("certificate") == true
            return Finding(
                app: app, check: "upstream", isOK: false,
                detail: sentence
                    ?? "pushes wait (\(environment)): Apple refuses the key, is unwell, or cannot be "
                    + "reached",
                fix: isUntrusted
                    ? "tombolo config reload"
                    : "see what Apple answers below; the relay's log names the cause: "
                        + "upstream-closed")
        }
    }

    /// Names the pushes that go somewhere else than to Apple: that may be wanted.
    private func authorities(_ metrics: MetricsReading) -> [Finding] {
        metrics.series("tombolo_upstream_info").compactMap { series in
            guard let file = series.labels["ca_file"], !file.isEmpty else { return nil }
            return Finding(
                app: series.labels["app"] ?? "", check: "ca_file", isOK: true,
                detail: "pushes go to \(series.labels["endpoint"] ?? ""), not to Apple, and trust "
                    + "\(file)", fix: nil)
        }
    }

    private static func size(_ bytes: Double) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var (value, place) = (bytes, 0)
        while value >= 1_000, place + 1 < units.count {
            (value, place) = (value / 1_000, place + 1)
        }
        let tenths = Int((value * 10).rounded())
        return place == 0 || value >= 10
            ? "\(tenths / 10) \(units[place])" : "\(tenths / 10).\(tenths % 10) \(units[place])"
    }
}
