import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// Reloads widgets, or the control of one kind.
    func reload(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let isOfControl = request.route.operation == .reloadControl
        let control = isOfControl ? request.parameter("kind") : nil
        let asked = try await read(request) { view throws(FieldErrors) in
            try ReloadRequest(reading: view, control: control)
        }
        let (isDryRun, tenant) = (try request.isDryRun, request.tenant)
        let stored =
            isDryRun
            ? await relay.read { core, _ in core.dryRunReloads(asked, of: tenant) }
            : try Self.stored(await relay.reload(asked, of: tenant), "a reload")
        return .object(isDryRun: isDryRun, status: isDryRun ? 200 : 202) { writer in
            writer.member("kind", request.parameter("kind"))
            writer.member("wanted", Int64(stored.count))
            writer.member("unreachable", Int64(stored.unreachable))
            // A `widgets` push does not name a kind; a control has a token of its own.
            writer.member("every_kind", !isOfControl)
        }
    }
}
