import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// `POST /v1/upstreams/{app}/retry`: lets one push of each closed upstream of an app try at
    /// once, because the cause may be gone. Without `environment` it tries both.
    func retryUpstream(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        try await read(request, orEmpty: true) { view throws(FieldErrors) in
            // The body takes no members. Refuse any member rather than ignore it.
            var reader = FieldReader(view)
            try reader.finish()
        }
        let app = request.parameter("app")
        let environment = try request.word("environment", among: ["production", "sandbox"])
        // Whose overview lists every closed upstream may retry every one.
        let isOperator = request.principal?.operatesRelay ?? false
        var views: [UpstreamView] = []
        for tenant in await relay.tenants where isOperator || tenant == request.tenant {
            let known = await relay.upstreams(of: tenant).filter {
                $0.app == app && (environment == nil || $0.environment.name == environment)
            }
            views.append(contentsOf: known)
        }
        guard !views.isEmpty else {
            let place = environment.map { " for the environment \($0)" } ?? ""
            throw Problem(.unknownApp, "No app \"\(app)\" is configured\(place).")
        }
        let isDryRun = try request.isDryRun
        if !isDryRun, views.contains(where: \.isClosed) {
            let deed = deed("upstream.retried", ["app": app], request)
            await relay.note(deed)
            for view in views where view.isClosed { relay.probe(view.number) }
            tell(deed, "a push of each closed upstream tries at once, as a key has asked")
        }
        return .object(isDryRun: isDryRun) { writer in
            writer.array("upstreams", of: views) { writer, view in
                writer.object { writer in
                    writer.member("app", view.app)
                    writer.member("environment", view.environment.name)
                    writer.member("closed", view.isClosed)
                    if let cause = view.trouble?.cause { writer.member("cause", cause) }
                }
            }
        }
    }
}
