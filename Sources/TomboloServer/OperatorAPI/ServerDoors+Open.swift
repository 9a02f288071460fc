import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

/// Requests without a key.
extension ServerDoors {
    /// `GET /readyz`: ready means that the log is recovered and can store events. The state of
    /// Apple's servers does not matter. A clock that is behind is only mentioned, because events
    /// are still stored.
    func ready(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        if request.prefersJSON { return await readiness() }
        if isDraining { throw Problem(.stopping, "The relay is stopping. Use another, or wait.") }
        if let reason = await relay.unreadiness { throw Problem(.notReady, reason) }
        let trouble = await relay.clockTrouble.map { "; \($0)" } ?? ""
        return .text("ready\(trouble)\n")
    }

    /// The readiness as JSON, with the problems that the relay itself has.
    private func readiness() async -> DoorResponse {
        let entries = await troublesOfItself(await relay.upstreams(), isOpen: true)
        let isReady = entries.allSatisfy { $0.code != .notReady }
        let status: ReadinessAnswer.Status = isDraining ? .stopping : isReady ? .ready : .notReady
        return .json(status == .ready ? 200 : 503, ["cache-control": "no-cache", "vary": "accept"])
        {
            ReadinessAnswer(status, entries).write(to: &$0)
        }
    }

    func live(_ request: DoorRequest) -> DoorResponse { .text("live\n") }

    func version(_ request: DoorRequest) -> DoorResponse {
        .object { writer in
            writer.member("name", "tombolo")
            writer.member("version", configuration.version)
            writer.member("api", "v1")
        }
    }

    func openAPI(_ request: DoorRequest) -> DoorResponse {
        let short = request.head.fields.acceptsGzip ? APIDescription.gzip : nil
        var fields: HTTPFields = [
            "content-type": "application/json", "cache-control": "no-cache",
            "vary": "accept-encoding",
        ]
        if short != nil { fields.append("content-encoding", "gzip") }
        return DoorResponse(
            status: 200, fields: fields, body: short ?? APIDescription.bytes, isShared: true)
    }

    /// Redirects a browser to the console; other clients get an overview as text.
    func home(_ request: DoorRequest) -> DoorResponse {
        if request.prefersHTML {
            let fields: HTTPFields = [
                "location": "/console/", "cache-control": "no-cache", "vary": "accept",
            ]
            return DoorResponse(status: 303, fields: fields, body: [])
        }
        return page(
            """
            Tombolo \(configuration.version)
              /v1            the API
              /openapi.json  its description
              /problems      every error, lint, suspect and alert, with cause and fix
              /console/      for people, in a browser

            """, request)
    }

    func listProblems(_ request: DoorRequest) -> DoorResponse { page(Self.problems, request) }

    func showProblem(_ request: DoorRequest) throws(Problem) -> DoorResponse {
        page(try problem(request.parameter("slug")), request)
    }

    /// Answers with a text for people, as HTML for a browser. In the commands of the text, the
    /// example address is replaced by the relay's address as the client used it.
    private func page(_ text: String, _ request: DoorRequest) -> DoorResponse {
        let text = text.replacing("http://127.0.0.1:8780", with: request.origin)
        var response =
            request.prefersHTML
            ? .text(PageHTML.page(text), type: "text/html; charset=utf-8") : DoorResponse.text(text)
        response.fields.append("cache-control", "no-cache")
        response.fields.append("vary", "accept, host, x-forwarded-proto")
        response.fields.append(
            "content-security-policy",
            "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
        return response
    }

    private static let problems: String = {
        let problems = ProblemPage.pages.map { "\($0.path)  \($0.status)  \($0.title)\n" }
        let lints = LintPage.pages.map { "\(LintPage.path($0.code))  lint  \($0.title)\n" }
        let suspects = SuspectPage.pages.map { "/problems/\($0.slug)  suspect  \($0.title)\n" }
        return (problems + lints + suspects).joined() + Runbook.list
    }()

    private func problem(_ slug: String) throws(Problem) -> String {
        if let lint = Lint.Code(rawValue: slug) { return LintPage.page(lint).text }
        if let suspect = SuspectPage.page(slug) { return suspect.text }
        if let code = ProblemCode(rawValue: slug) { return ProblemPage.page(code).text }
        if let page = Runbook.text(about: slug) { return page }
        guard let problem = HTTPServerProblem.all.first(where: { $0.code == slug }) else {
            throw Problem(.unknownProblem, "No problem is called \"\(slug)\". See /problems.")
        }
        return problem.text
    }
}
