import TomboloAPI
import TomboloCore
import TomboloRelay

extension ServerDoors {
    /// A page of the tenant's devices, sorted by id, or of its types, sorted by app and name.
    func listRegistered(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let limit = try request.limit()
        guard request.route.operation == .listDevices else {
            let page = await relay.types(
                of: request.tenant, after: try Self.typeCursor(request), limit: limit)
            let next = page.next.map { "\($0.app)/\($0.name)" }
            return .json { TypePage(page.views, next: next).write(to: &$0) }
        }
        let after = try request.identifier(inQuery: "cursor")
        return try await page(for: request, bytes: IDPage.bytesMax) { () async throws(Problem) in
            let page = await relay.devices(of: request.tenant, after: after, limit: limit)
            return .json { DevicePage(page.views, next: page.next).write(to: &$0) }
        }
    }

    /// Parses the cursor `APP/NAME`. Apps' ids contain no slash, so the first slash separates.
    private static func typeCursor(
        _ request: DoorRequest
    ) throws(Problem) -> (app: String, name: String)? {
        guard let text = request.target["cursor"] else { return nil }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let app = parts.first, let name = parts.dropFirst().last else {
            throw Problem(.invalidQuery, "cursor=\(text) is not a cursor of this list.")
        }
        return (String(app), String(name))
    }
}
