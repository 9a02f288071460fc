import TomboloAPI
import TomboloCore
import TomboloRelay

extension ServerDoors {
    /// A page of the tenant's types, sorted by app and name.
    func listTypes(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let (limit, tenant) = (try request.limit(), request.tenant)
        let after = try request.cursor(parts: 2).map { ($0[0], $0[1]) }
        let page = await relay.read { core, _ in
            core.typeViews(of: tenant, after: after, limit: limit)
        }
        let next = page.next.map { "\($0.app)/\($0.name)" }
        return .json { ListPage("types", page.views, next: next).write(to: &$0) }
    }

    /// A page of the tenant's devices that match, sorted by id.
    func listDevices(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let limit = try request.limit()
        let after = try request.identifier(inQuery: "cursor")
        let target = request.target
        let filter = DeviceFilter(
            tenant: request.tenant, user: target["user"], app: target["app"], os: target["os"],
            silentFor: try Self.silence(request))
        return try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            let page = await relay.devices(filter, after: after, limit: limit)
            let answer = ListPage("devices", page.views, next: page.next?.rawValue)
            return .json { answer.write(to: &$0) }
        }
    }

    /// How long the devices that a request asks for have been silent at least; nil: any time.
    private static func silence(_ request: DoorRequest) throws(Problem) -> Span? {
        guard let text = request.target["silent_for"] else { return nil }
        guard let span = Span(text: text), span > .zero else {
            throw Problem(
                .invalidQuery,
                "silent_for=\(text) must be a duration of at most 100 days, such as 1h.")
        }
        return span
    }
}
