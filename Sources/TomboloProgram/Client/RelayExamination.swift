import Glibc
import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// Examines a running relay for `doctor`: its readiness, disk, log, clock and certificate, and its
/// connections to Apple.
struct RelayExamination {
    typealias Finding = DoctorCommand.Finding

    let configuration: Configuration
    /// The relay to examine; nil means the one at the configured address.
    var named: Origin?
    /// An API key of the relay; nil means that only public information is read.
    let key: String?
    /// The certificate authority to trust; nil means that of the configured certificate.
    var caFile: String?
    let now: Instant

    /// Minimum free disk space in bytes. A checkpoint, and events meanwhile, need it.
    private static let diskFreeMin = 1e9
    /// Plausible range of a certificate's end, in Unix seconds (until the year 2255).
    private static let endsMax = 0.0...9e9
    /// If the clock is behind by at most this many seconds, it is fine: after a crash, timestamps
    /// on cards may be so far ahead.
    private static let clockBehindMax = 60.0

    private var origin: Origin { named ?? configuration.ownOrigin }

    /// True if a relay has already run with this configuration. If none has, it is no fault that no
    /// relay answers: the configuration may be examined before the first start.
    private var hasRun: Bool {
        configuration.data.map { access($0 + "/tombolo.db", F_OK) == 0 } ?? false
    }

    private var asksApple: Bool { !configuration.apps.isEmpty }

    private func finding(_ item: JSONView) -> Finding? { Self.finding(item, asksApple: asksApple) }

    func findings(_ loop: EpollLoop) async -> [Finding] {
        var finding = Finding(check: "relay", .ok, detail: "")
        do {
            let client = try await RelayClient.connect(
                to: origin, key: key, caFile: caFile ?? configuration.tls?.certificate, loop: loop)
            defer { client.close() }
            do {
                let entries = try await readiness(client)
                finding.detail = "the relay at \(origin) takes events"
                let details = await details(client)
                // With a key, metrics and overview tell the same with numbers: leave these out.
                let told = Set(details.filter(\.isTrouble).map(\.check))
                return [finding] + entries.filter { !told.contains($0.check) } + details
            } catch {
                return [unready(error)] + (await details(client))
            }
        } catch let error as ProgramError {
            guard error.isConnectionRefused else { return [unready(error)] }
            finding.verdict = named == nil && !hasRun ? .ok : .failed
            finding.detail =
                "no relay listens on \(named?.description ?? configuration.listen.description) now"
            if hasRun { finding.detail += ", though \(configuration.data ?? "") has its log" }
            finding.fix = finding.isOK ? nil : "start it, and read its last lines on stderr"
        } catch {
            finding.verdict = .failed
            finding.detail = "\(origin): \(error)"
        }
        return [finding]
    }

    private func unready(_ error: ProgramError) -> Finding {
        Finding(
            check: "relay", .failed, detail: error.cause,
            fix: error.remedy ?? "curl -k \(origin)/readyz")
    }

    /// Findings from the public readiness answer. Throws if the relay accepts no events.
    private func readiness(_ client: RelayClient) async throws(ProgramError) -> [Finding] {
        let answer = try await client.answer(
            RelayRequest("GET", "/readyz", fields: [("accept", "application/json")]))
        // An older relay answers with a word or with a problem document.
        let root = (try? JSONDocument(answer.body))?.root
        let entries = root?.items("entries") ?? []
        guard (200..<300).contains(answer.status) else {
            let reason = entries.first {
                ["not_ready", "waiting"].contains($0["code"]?.string)
            }?["text"]?.string
            guard root?["entries"] != nil else {
                throw RelayProblem(status: answer.status, body: answer.body).error(name: nil)
            }
            throw ProgramError(OperatorLog.shown(reason ?? "The relay is stopping."))
        }
        return entries.compactMap(finding)
    }

    private func details(_ client: RelayClient) async -> [Finding] {
        guard key != nil else {
            let detail =
                "disk, log, clock and upstreams are not asked for: that needs a --key of the "
                + "tenant main with scope operate"
            return [Finding(check: "inside", .notAsked, detail: detail)]
        }
        do throws(ProgramError) {
            let answer = try await client.send(RelayRequest("GET", "/metrics"), name: nil)
            let metrics = MetricsReading(String(decoding: answer.body, as: UTF8.self))
            let overview = try await client.answer(RelayRequest("GET", "/v1/overview"))
            guard overview.status != 403 else {
                let detail = "what else needs attention is not asked for: that needs scope observe"
                return findings(metrics)
                    + [Finding(check: "attention", .notAsked, detail: detail)]
            }
            let root = try overview.document().root
            let items = root.items("attention")
            let found = findings(metrics, attention: items)
            let told = Set(found.filter(\.isTrouble).map(\.check))
            return found + items.compactMap(finding).filter { !told.contains($0.check) }
        } catch {
            return [Finding(check: "inside", .failed, detail: error.cause, fix: error.remedy)]
        }
    }

    /// A finding for an entry of `attention` or of the readiness answer. Its check is that of the
    /// code's row. Entries about cards have no check and are notices, because a user may swipe
    /// cards away.
    ///
    /// - Parameter asksApple: true if doctor asks Apple itself: that answer tells whether a key is
    ///   at fault where pushes wait.
    static func finding(_ item: JSONView, asksApple: Bool = false) -> Finding? {
        guard let code = item["code"]?.string, let text = item["text"]?.string else { return nil }
        let check = AttentionCode(rawValue: code).flatMap { AttentionRow.row($0).check }
        // An answer of Apple to what the relay sent is about the relay's key, app or clock.
        let isAnswered = code == "upstream_closed" && text.contains("Apple answers 4")
        let isElsewhere = asksApple && code == "upstream_closed" && !isAnswered
        return Finding(
            app: item["app"]?.string.map(OperatorLog.shown) ?? "",
            check: check ?? OperatorLog.shown(code.replacing("_", with: " ")),
            check == nil ? .notice : isElsewhere ? .elsewhere : .failed,
            detail: OperatorLog.shown(text),
            fix: isAnswered
                ? nil
                : item["try"]?.elements.compactMap(\.string).first { $0 != "tombolo doctor" }
                    .map(OperatorLog.shown))
    }

    /// Findings from the relay's metrics.
    ///
    /// - Parameter attention: the overview's entries. They describe each closed upstream.
    func findings(_ metrics: MetricsReading, attention: [JSONView] = []) -> [Finding] {
        [disk(metrics)] + damage(metrics) + [clock(metrics)] + certificate(metrics)
            + upstreams(metrics, attention) + authorities(metrics)
    }

    private func disk(_ metrics: MetricsReading) -> Finding {
        var finding = Finding(check: "disk", .ok, detail: "")
        if metrics.value("tombolo_database_dead_rows") != nil { return database(metrics) }
        guard let free = metrics.value("tombolo_disk_free_bytes"),
            let log = metrics.value("tombolo_log_bytes")
        else {
            finding.verdict = .notAsked
            finding.detail =
                "the key sees neither disk nor log: that needs scope operate of the tenant main"
            return finding
        }
        finding.detail =
            "the log has \(Self.size(log)), and \(Self.size(free)) are free on its disk"
        if free < Self.diskFreeMin {
            finding.verdict = .failed
            finding.fix = "free some space; or lower limits.history and limits.facts"
        }
        return finding
    }

    private func database(_ metrics: MetricsReading) -> Finding {
        func value(_ name: String) -> Double { metrics.value("tombolo_database_\(name)") ?? 0 }
        let durability = metrics.series("tombolo_database_info").first?.labels["durability"] ?? ""
        let commits = metrics.series("tombolo_database_commit_seconds").map {
            "\(($0.value * 100_000).rounded() / 100) ms (\($0.labels["quantile"] ?? ""))"
        }
        var finding = Finding(
            check: "database", durability == "none" ? .failed : .ok,
            detail:
                "the log has \(Self.size(metrics.value("tombolo_log_bytes") ?? 0)); commits have "
                + "durability \(durability), and take \(commits.joined(separator: ", ")); "
                + "\(Int(value("dead_rows"))) rows wait for VACUUM, and the oldest snapshot is "
                + "\(Int(value("oldest_snapshot_transactions"))) transactions old")
        if !finding.isOK { finding.fix = "set fsync = on in the server's postgresql.conf" }
        return finding
    }

    private func damage(_ metrics: MetricsReading) -> [Finding] {
        guard let rows = metrics.value("tombolo_damaged_rows"), rows > 0 else { return [] }
        return [
            Finding(
                check: "log", .failed,
                detail: "\(Int(rows)) rows of the log are damaged; the relay's log names them",
                fix: AttentionRow.row(.logDamaged).command.replacing(
                    "DIR", with: configuration.data ?? "DIR"))
        ]
    }

    private func clock(_ metrics: MetricsReading) -> Finding {
        let behind = metrics.value("tombolo_clock_behind_seconds") ?? 0
        guard behind > Self.clockBehindMax else {
            return Finding(
                check: "clock", .ok,
                detail: "the machine's clock is not behind the timestamps that phones have")
        }
        return Finding(
            check: "clock", .failed,
            detail: "the \(RelayClock.trouble(behind: .seconds(Int64(min(behind, 1e9)))))",
            fix: AttentionRow.row(.clockBehind).command)
    }

    /// Examines the certificate in use. It may be older than the certificate in the file.
    private func certificate(_ metrics: MetricsReading) -> [Finding] {
        guard let end = metrics.value("tombolo_certificate_end_seconds"),
            Self.endsMax.contains(end)
        else { return [] }
        let ends = Instant(seconds: Int64(end))
        var finding = Finding(
            check: "certificate", ends > now ? .ok : .failed,
            detail: "the relay shows a certificate that is valid until \(ends.rfc3339)")
        if !finding.isOK { finding.fix = "renew the certificate, then: tombolo config reload" }
        var findings: [ConfigurationFinding] = []
        if named == nil, let files = configuration.tls,
            let tls = CheckedConfiguration.tls(files, &findings),
            Instant(seconds: tls.validity.upperBound) != ends
        {
            let detail = "the relay shows another certificate than \(files.certificate) has"
            return [
                finding,
                Finding(
                    check: "certificate-in-use", .failed, detail: detail,
                    fix: "tombolo config reload"),
            ]
        }
        return [finding]
    }

    /// True if a pause covers all pushes of the app.
    private func isPaused(_ app: String, _ attention: [JSONView]) -> Bool {
        attention.contains { item in
            guard item["code"]?.string == "paused", item["activity"]?.string == nil,
                let text = item["text"]?.string, text.contains("has paused pushes")
            else { return false }
            return item["app"]?.string.map { $0 == app } ?? !text.contains("pushes of the type")
        }
    }

    private func upstreams(_ metrics: MetricsReading, _ attention: [JSONView]) -> [Finding] {
        let states = metrics.series("tombolo_upstreams").filter { $0.labels["state"] == "closed" }
        return states.map { series in
            let app = series.labels["app"] ?? ""
            let environment = series.labels["environment"] ?? ""
            guard series.value > 0 else {
                let detail =
                    isPaused(app, attention)
                    ? "the way to Apple is open (\(environment)), and a pause holds the pushes"
                    : "pushes go (\(environment))"
                return Finding(app: app, check: "upstream", .ok, detail: detail)
            }
            let item = attention.first {
                $0["code"]?.string == "upstream_closed" && $0["app"]?.string == app
                    && $0["environment"]?.string == environment
            }
            let isAnswered = item?["text"]?.string?.contains("Apple answers 4") ?? false
            return Finding(
                app: app, check: "upstream", asksApple && !isAnswered ? .elsewhere : .failed,
                detail: item?["text"]?.string.map(OperatorLog.shown)
                    ?? "pushes wait (\(environment)): Apple refuses the key, is unwell, or cannot be "
                    + "reached",
                fix: isAnswered
                    ? "correct the configuration, then: tombolo config reload"
                    : item?["try"]?.elements.compactMap(\.string)
                        .first { $0 != "tombolo doctor" }.map(OperatorLog.shown)
                        ?? "see what Apple answers below; the relay's log names the cause: "
                        + "upstream-closed")
        }
    }

    /// Lists upstreams whose pushes do not go to Apple, because this may be a mistake.
    private func authorities(_ metrics: MetricsReading) -> [Finding] {
        metrics.series("tombolo_upstream_info").compactMap { series in
            guard let file = series.labels["ca_file"], !file.isEmpty else { return nil }
            return Finding(
                app: series.labels["app"] ?? "", check: "ca_file", .ok,
                detail: "pushes go to \(series.labels["endpoint"] ?? ""), not to Apple, and trust "
                    + "\(file)")
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

extension Configuration {
    /// Where a relay with this configuration is asked from its own machine.
    var ownOrigin: Origin {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][listen.host] ?? listen.host
        return Origin(scheme: tls == nil ? .http : .https, host: host, port: listen.port)
    }
}
