import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

/// What needs no key.
extension ServerDoors {
    /// Ready = the log is recovered and takes events. Apple's state is no part of it, and a clock
    /// that is behind is a word beside it: events are taken all the same.
    func ready() async throws(Problem) -> DoorResponse {
        if isDraining { throw Problem(.stopping, "The relay is stopping. Use another, or wait.") }
        if let reason = await relay.unreadiness { throw Problem(.notReady, reason) }
        let trouble = await relay.clockTrouble.map { "; \($0)" } ?? ""
        return .text("ready\(trouble)\n")
    }

    func version() -> DoorResponse {
        .json { writer in
            writer.beginObject()
            writer.member("name", "tombolo")
            writer.member("version", configuration.version)
            writer.member("api", "v1")
            writer.endObject()
        }
    }

    func openAPI() -> DoorResponse {
        DoorResponse(
            status: 200, fields: ["content-type": "application/json"],
            body: APIDescription.bytes, isShared: true)
    }

    /// All of them, or the one in the path.
    func problems(_ request: DoorRequest) throws(Problem) -> DoorResponse {
        request.route.operation == .listProblems ? Self.problems : try showProblem(request)
    }

    private static let problems: DoorResponse = {
        let problems = ProblemRegistry.pages.map { "\($0.path)  \($0.status)  \($0.title)\n" }
        let lints = LintPage.pages.map { "\(LintPage.path($0.code))  lint  \($0.title)\n" }
        let suspects = SuspectPage.pages.map { "/problems/\($0.slug)  suspect  \($0.title)\n" }
        var response = DoorResponse.text((problems + lints + suspects).joined())
        response.isShared = true
        return response
    }()

    private func showProblem(_ request: DoorRequest) throws(Problem) -> DoorResponse {
        let slug = request.parameter("slug")
        if let lint = Lint.Code(rawValue: slug) { return .text(LintPage.page(lint).text) }
        if let suspect = SuspectPage.page(slug) { return .text(suspect.text) }
        if ProblemCode(rawValue: slug) == nil,
            let problem = HTTPServerProblem.all.first(where: { $0.code == slug })
        {
            return .text(problem.text)
        }
        guard let code = ProblemCode(rawValue: slug) else {
            throw Problem(.unknownProblem, "No problem is called \"\(slug)\". See /problems.")
        }
        return .text(ProblemRegistry.page(code).text)
    }
}
