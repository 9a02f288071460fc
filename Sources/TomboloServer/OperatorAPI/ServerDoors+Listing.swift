import TomboloAPI
import TomboloRelay

extension ServerDoors {
    /// A tenant's devices, in the order of their ids; or its types, a thousand at most, so that
    /// there are no pages.
    func listRegistered(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        guard request.route.operation == .listDevices else {
            let types = await relay.types(of: request.tenant)
            return .json { TypeList(types).write(to: &$0) }
        }
        let page = await relay.devices(
            of: request.tenant, after: try request.identifier(inQuery: "cursor"),
            limit: try request.limit())
        return .json { DevicePage(page.views, next: page.next).write(to: &$0) }
    }
}
