import TomboloAPNs
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloPostgres

/// `doctor`: reports the state of the running relay. For each configured app, it also reports
/// whether Apple (or a simulator) would accept pushes. If not, it names the cause and the fix.
enum DoctorCommand {
    /// The result of one check.
    struct Finding: Sendable {
        var app: String
        var check: String
        var verdict: Verdict
        var detail: String
        var fix: String?

        var isOK: Bool { verdict == .ok }
        /// True if it names a trouble.
        var isTrouble: Bool { verdict != .ok && verdict != .notAsked }

        init(
            app: String = "", check: String, _ verdict: Verdict, detail: String, fix: String? = nil
        ) {
            (self.app, self.check, self.verdict) = (app, check, verdict)
            (self.detail, self.fix) = (detail, fix)
        }

        /// The first part of the finding's pointer becomes the check's name.
        init(_ finding: ConfigurationFinding, _ sources: ConfigurationSources) {
            let name = finding.pointer.split(separator: "/").first.map(String.init) ?? "files"
            self.init(check: name, .failed, detail: sources.text(finding), fix: finding.remedy)
        }

        init(_ finding: PostgresFinding) {
            self.init(
                check: finding.check, finding.isOK ? .ok : .failed,
                detail: OperatorLog.shown(finding.detail), fix: finding.hint)
        }

        /// The lines for people.
        var text: String {
            let name = app.isEmpty ? check : app
            let word = verdict.rawValue
            let gap = String(repeating: " ", count: 11 - word.count)
            return "\(word)\(gap)\(name): \(detail)" + (fix.map { "\n  try: \($0)" } ?? "") + "\n"
        }
    }

    /// What a check has found, in the words of the output.
    enum Verdict: String, Hashable, Sendable {
        case ok
        /// Nobody knows: the key may not ask, or there is none.
        case notAsked = "not asked"
        /// It needs attention, but nothing is wrong with the relay, its configuration or Apple.
        case notice = "look"
        /// Apple or the network is at fault: a change of the relay does not help.
        case elsewhere
        case failed
    }

    /// Time limit for connecting, and also for the answer.
    private static let patience = Duration.seconds(10)

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        var findings: [Finding] = []
        let named = context.invocation.origin(.askedRelay)
        // If a relay is named and there is no configuration, examine only this relay.
        if named == nil || sources.file != nil || sources.configuration.data != nil {
            do throws(ConfigurationFaults) {
                let checked = try CheckedConfiguration(sources.configuration)
                findings += checked.notices(at: SystemClock().now()).map { Finding($0, sources) }
            } catch {
                findings += error.findings.map { Finding($0, sources) }
            }
        }
        let relay = RelayExamination(
            configuration: sources.configuration, named: named,
            key: context.invocation.text(.key), caFile: context.invocation.text(.caFile),
            now: SystemClock().now())
        let answers = await relay.findings(context.loop)
        findings += answers
        if let database = sources.configuration.database,
            named == nil || answers.contains(where: { $0.check == "relay" && !$0.isOK })
        {
            findings += database.examine()
        }
        for (place, app) in sources.configuration.apps.enumerated() {
            // If the app cannot be used, its faults are already among the findings.
            guard let checked = try? CheckedApp(app, at: place) else { continue }
            findings.append(await examine(checked, context.loop))
        }
        try print(findings, context)
        let failed = findings.filter { $0.verdict == .failed }
        guard failed.isEmpty else {
            return named != nil && failed.contains { $0.check == "relay" } ? .unreachable : .failed
        }
        return findings.contains { $0.verdict == .elsewhere } ? .lint : .succeeded
    }

    // MARK: One app

    private static func examine(_ checked: CheckedApp, _ loop: EpollLoop) async -> Finding {
        let app = checked.app
        var finding = Finding(app: app.id, check: "key", .failed, detail: "")
        let endpoint = checked.upstream.endpoint
        let authorization = "bearer " + checked.signer.token(issuedAt: SystemClock().now())
        let tls: TLSClientConfiguration?
        do {
            tls = try trust(checked)
        } catch {
            finding.detail = "\(error)"
            finding.fix = "tombolo config check"
            return finding
        }
        finding.check = "reach"
        let client: HTTP2Client
        do throws(ConnectionError) {
            client = try await HTTP2Client.connect(
                HTTP2Endpoint(
                    scheme: endpoint.isSecure ? .https : .http, host: endpoint.host,
                    port: Int(endpoint.port)),
                tls: tls, on: loop, within: patience)
        } catch {
            finding.detail = "\(endpoint) cannot be reached: \(error)"
            // What another certificate shows, a wrong clock or a wrong endpoint may explain.
            let isTrust = error.kind == .tls || error.kind == .notTLS
            if !isTrust { finding.verdict = .elsewhere }
            finding.fix =
                isTrust
                ? "timedatectl; openssl s_client -connect \(endpoint.host):\(endpoint.port)"
                : "nc -vz \(endpoint.host) \(endpoint.port)  (Apple also listens on 2197)"
            return finding
        }
        defer { client.close() }
        return await probe(client, app, endpoint, authorization, finding)
    }

    private static func trust(_ checked: CheckedApp) throws -> TLSClientConfiguration? {
        guard checked.upstream.endpoint.isSecure else { return nil }
        guard let authorities = checked.upstream.authorities else {
            return try TLSClientConfiguration()
        }
        return try TLSClientConfiguration(trust: .certificates(authorities))
    }

    /// Sends a push to a token that no device has. If the answer is `BadDeviceToken`, then key,
    /// team, environment and topic are right.
    private static func probe(
        _ client: HTTP2Client, _ app: Configuration.App, _ endpoint: APNsEndpoint,
        _ authorization: String, _ finding: Finding
    ) async -> Finding {
        var finding = finding
        var fields: HTTPFields = [
            "apns-topic": app.id + APNsPushType.liveActivity.topicSuffix,
            "apns-push-type": APNsPushType.liveActivity.rawValue, "apns-priority": "5",
            "apns-expiration": "0",
        ]
        fields.append("authorization", authorization, indexing: .neverIndexed)
        let request = HTTP2Request(
            method: "POST", scheme: endpoint.isSecure ? "https" : "http",
            authority: endpoint.authority, path: "/3/device/" + KeyProbe.token, fields: fields,
            body: KeyProbe.body)
        switch await client.perform(request, timeout: patience) {
        case .notProcessed(let failure), .unknown(let failure):
            finding.verdict = .elsewhere
            finding.detail = "\(endpoint) did not answer: \(failure)"
            finding.fix = "run tombolo doctor again; then look at the network in between"
        case .answered(let answer):
            let reason = (try? JSONDocument(answer.body))?.root["reason"]?.string  // nil for 200
            finding.check = "answer"
            switch KeyVerdict(status: answer.status, reason: reason ?? "", app) {
            case .taken(let detail):
                finding.verdict = .ok
                finding.detail = detail
            case .refused(let detail, let fix):
                finding.detail = detail
                finding.fix = fix
            case .unanswered(let detail):
                finding.verdict = .elsewhere
                finding.detail = detail
                finding.fix = "wait 15 minutes, as Apple asks, and run tombolo doctor again"
            }
        }
        return finding
    }

    // MARK: Output

    private static func print(
        _ findings: [Finding], _ context: CommandContext
    ) throws(ProgramError) {
        guard !context.printsTable else {
            return try context.terminal.show(findings.map(\.text).joined())
        }
        try context.terminal.printObject { writer in
            let isOK = !findings.contains { [.failed, .elsewhere].contains($0.verdict) }
            writer.member("ok", isOK)
            writer.objects("checks", findings) { $1.write(to: &$0) }
        }
    }
}

extension DoctorCommand.Finding {
    fileprivate func write(to writer: inout JSONWriter) {
        if !app.isEmpty { writer.member("app", app) }
        writer.member("check", check)
        switch verdict {
        case .notAsked: writer.member("asked", false)
        case .notice: writer.member("notice", true)
        case .elsewhere: writer.member("elsewhere", true)
        case .ok, .failed: break
        }
        if verdict != .notAsked { writer.member("ok", isOK) }
        writer.member("detail", detail)
        if let fix { writer.member("fix", fix) }
    }
}
