import TomboloAPNs
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop

/// `doctor`: for each app of the configuration, whether Apple (or its stand-in) would take pushes;
/// and if not, the cause and the fix.
enum DoctorCommand {
    /// One thing that was looked at.
    struct Finding: Sendable {
        var app: String
        var check: String
        var isWell: Bool
        var detail: String
        var fix: String?
    }

    /// For connecting, and again for the answer.
    private static let patience = Duration.seconds(10)

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(
            context.invocation, path: context.invocation.argument(0))
        var findings = ConfigurationFiles(sources).faults.map {
            Finding(app: "", check: "files", isWell: false, detail: $0.text, fix: $0.remedy)
        }
        let apps = sources.configuration.apps
        if apps.isEmpty {
            findings.append(
                Finding(
                    app: "", check: "apps", isWell: false, detail: "no app is configured",
                    fix: "add one to \"apps\" in the --config file"))
        }
        for app in apps { findings.append(await examine(app, context.loop)) }
        try print(findings, context)
        if findings.allSatisfy(\.isWell) { return .succeeded }
        return findings.contains { $0.check == "reach" && !$0.isWell } ? .unreachable : .failed
    }

    // MARK: One app

    private static func examine(_ app: Configuration.App, _ loop: EpollLoop) async -> Finding {
        var finding = Finding(app: app.id, check: "key", isWell: false, detail: "", fix: nil)
        let endpoint: APNsEndpoint
        let authorization: String
        let tls: TLSClientConfiguration?
        do {
            let signer = try ProviderTokenSigner(
                keyID: app.keyID, teamID: app.teamID, p8: try FileBytes.read(app.keyFile))
            authorization = "bearer " + signer.token(issuedAt: SystemClock().now())
            endpoint =
                try app.endpoint.map { try APNsEndpoint(url: $0.description) }
                ?? .apple(app.environment)
            tls = try trust(app, endpoint)
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
            finding.fix =
                error.kind == .tls
                ? "timedatectl; openssl s_client -connect \(endpoint.host):\(endpoint.port)"
                : "nc -vz \(endpoint.host) \(endpoint.port)  (Apple also listens on 2197)"
            return finding
        }
        defer { client.close() }
        return await probe(client, app, endpoint, authorization, finding)
    }

    private static func trust(
        _ app: Configuration.App, _ endpoint: APNsEndpoint
    ) throws -> TLSClientConfiguration? {
        guard endpoint.isSecure else { return nil }
        guard let file = app.caFile else { return try TLSClientConfiguration() }
        return try TLSClientConfiguration(trust: .certificates(try FileBytes.read(file)))
    }

    /// A push to a token that is nobody's. `BadDeviceToken` is the answer that shows that key,
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
            authority: endpoint.authority, path: "/3/device/" + String(repeating: "0", count: 64),
            fields: fields, body: Array(#"{"aps":{}}"#.utf8))
        switch await client.perform(request, timeout: patience) {
        case .notProcessed(let failure), .unknown(let failure):
            finding.detail = "\(endpoint) did not answer: \(failure)"
            finding.fix = "run tombolo doctor again; then look at the network in between"
        case .answered(let answer):
            let reason = (try? JSONDocument(answer.body))?.root["reason"]?.string  // 200 has none
            finding.check = "answer"
            judge(&finding, app, status: answer.status, reason: reason ?? "")
        }
        return finding
    }

    /// What an answer to the probe says (Apple, *Handling notification responses from APNs*).
    private static func judge(
        _ finding: inout Finding, _ app: Configuration.App, status: Int, reason: String
    ) {
        let key = "key \(app.keyID) of team \(app.teamID)"
        finding.detail = "\(status) \(reason)"
        switch (status, reason) {
        case (200, _), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, _):
            finding.isWell = true
            finding.detail = "\(key) and topic are taken in \(app.environment.name)"
        case (_, "InvalidProviderToken"), (_, "MissingProviderToken"), (_, "Forbidden"):
            finding.detail += ": Apple does not know \(key), or the .p8 is another key's"
            finding.fix =
                "compare key_id and team_id with Apple's account page; key_id is in the "
                + "name of AuthKey_….p8"
        case (_, "ExpiredProviderToken"):
            finding.detail += ": this machine's clock is more than an hour off"
            finding.fix = "timedatectl set-ntp true"
        case (_, "TooManyProviderTokenUpdates"):
            finding.detail += ": another process mints tokens with this key, or the clock jumps"
            finding.fix = "let one relay use the key; run tombolo doctor again in 20 minutes"
        case (_, "BadEnvironmentKeyIdInToken"), (_, "BadEnvironmentKeyInToken"),
            (_, "BadCertificateEnvironment"):
            finding.detail += ": \(key) is not for \(app.environment.name)"
            finding.fix = "set \"environment\" to the key's, or make a key for this one"
        case (_, "UnrelatedKeyIdInToken"), (_, "TopicDisallowed"), (_, "BadTopic"):
            finding.detail += ": \(key) may not push to \(app.id)"
            finding.fix = "\"id\" is the bundle id without a suffix; see the key's topics"
        case (429, _), (500..., _):
            finding.detail += ": the service is unwell or throttles"
            finding.fix = "wait 15 minutes, as Apple asks, and run tombolo doctor again"
        default:
            finding.fix = "look the reason up: /problems/ of the relay, and Apple's page"
        }
    }

    // MARK: What is told

    private static func print(
        _ findings: [Finding], _ context: CommandContext
    ) throws(ProgramError) {
        guard OutputFormat(context) != .table else {
            let lines = findings.map { finding in
                let name = finding.app.isEmpty ? finding.check : finding.app
                let fix = finding.fix.map { "\n  try: \($0)" } ?? ""
                return "\(finding.isWell ? "well" : "ILL ")  \(name): \(finding.detail)\(fix)\n"
            }
            return try context.terminal.write(lines.joined().utf8)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("well", findings.allSatisfy(\.isWell))
        writer.name("checks")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            if !finding.app.isEmpty { writer.member("app", finding.app) }
            writer.member("check", finding.check)
            writer.member("well", finding.isWell)
            writer.member("detail", finding.detail)
            if let fix = finding.fix { writer.member("fix", fix) }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        try context.terminal.write(writer.bytes + [10])
    }
}
