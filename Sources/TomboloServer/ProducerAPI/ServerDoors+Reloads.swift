import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// Reloads widgets, or the control of one kind.
    func reload(
        _ request: DoorRequest, _ exchange: HTTPExchange
    ) async throws(Problem) -> DoorResponse {
        let isOfControl = request.route.operation == .reloadControl
        let control = isOfControl ? request.parameter("kind") : nil
        let document = try await request.json(of: exchange, atMost: configuration.bodyBytesMax)
        let asked: ReloadRequest
        do {
            asked = try ReloadRequest(reading: document.root, control: control)
        } catch {
            throw Problem(error)
        }
        let isDryRun = try request.isDryRun
        let stored =
            isDryRun
            ? await relay.dryRunReloads(asked, of: request.tenant)
            : try Self.stored(await relay.reload(asked, of: request.tenant), "a reload")
        return .json(isDryRun ? 200 : 202) { writer in
            writer.beginObject()
            if isDryRun { writer.member("dry_run", true) }
            writer.member("kind", request.parameter("kind"))
            writer.member("wanted", Int64(stored.count))
            writer.member("unreachable", Int64(stored.unreachable))
            // A `widgets` push does not name a kind; a control has a token of its own.
            writer.member("every_kind", !isOfControl)
            writer.endObject()
        }
    }
}
