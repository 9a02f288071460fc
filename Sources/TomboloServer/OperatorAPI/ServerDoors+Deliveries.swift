import TomboloAPI
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloRelay

extension ServerDoors {
    /// The books of an activity's destinations, and its newest decisions.
    func listActivityDeliveries(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let key = try request.activityKey()
        let device = try request.identifier(inQuery: "device")
        let page = try await page(request, activity: key.id, device: device)
        guard let ledgers = await relay.ledgers(of: key) else {
            throw Problem.unknownActivity(key.id)
        }
        return .json { writer in
            writer.beginObject()
            writer.member("activity", key.id.rawValue)
            writer.name("destinations")
            writer.beginArray()
            for ledger in ledgers where device == nil || ledger.device == device {
                ledger.write(to: &writer)
            }
            writer.endArray()
            page.write(to: &writer)
            writer.endObject()
        }
    }

    /// The newest decisions of all activities.
    func listDeliveries(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let activity = try request.identifier(inQuery: "activity")
        let device = try request.identifier(inQuery: "device")
        let page = try await page(request, activity: activity, device: device)
        if page.entries.isEmpty { try await checkNames(request, activity, device) }
        return .json { writer in
            writer.beginObject()
            page.write(to: &writer)
            writer.endObject()
        }
    }

    /// Decisions, newest first.
    private struct Page: Sendable {
        var entries: [DeliveryLog.Entry]
        var isMore: Bool

        func write(to writer: inout JSONWriter) {
            writer.name("deliveries")
            writer.beginArray()
            for entry in entries { entry.write(to: &writer) }
            writer.endArray()
            writer.name("next_cursor")
            if isMore, let last = entries.last {
                writer.string(String(last.number))
            } else {
                writer.null()
            }
        }
    }

    private func page(
        _ request: DoorRequest, activity: Identifier?, device: Identifier?
    ) async throws(Problem) -> Page {
        let limit = try request.limit()
        let before = try request.integer("cursor", in: 1...Int64.max)
        let entries = await relay.deliveries(
            of: request.tenant, activity: activity, device: device, before: before,
            limit: limit + 1)
        return Page(entries: Array(entries.prefix(limit)), isMore: entries.count > limit)
    }

    /// Refuses an empty list that was asked of an activity or device that is not there: of a
    /// misspelt name, it would look like an answer.
    func checkNames(
        _ request: DoorRequest, _ activity: Identifier?, _ device: Identifier?
    ) async throws(Problem) {
        if let activity {
            let key = ActivityKey(tenant: request.tenant, id: activity)
            guard await relay.activity(key) != nil else { throw Problem.unknownActivity(activity) }
        }
        if let device {
            let key = DeviceKey(tenant: request.tenant, id: device)
            guard await relay.device(key) != nil else { throw Problem.unknownDevice(device) }
        }
    }

    /// What the classes grant, and what is left of it.
    func listBudgets(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let limit = try request.limit()
        let activity = try request.identifier(inQuery: "activity")
        let device = try request.identifier(inQuery: "device")
        let cursor = request.target["cursor"]
        let after = cursor.flatMap(BudgetPlace.init)
        if let cursor, after == nil {
            throw Problem(
                .invalidQuery,
                "cursor=\(cursor) must be what a page of this listing gave as next_cursor.")
        }
        let budgets = await relay.budgets(
            of: request.tenant, activity: activity, device: device, after: after,
            limit: limit + 1)
        // They are of devices, and of no activity: the first page has them.
        let surfaces =
            activity == nil && after == nil
            ? await relay.surfaceBudgets(of: request.tenant, device: device, limit: limit) : []
        if budgets.destinations.isEmpty, surfaces.isEmpty {
            try await checkNames(request, activity, device)
        }
        let page = BudgetPage(
            classes: budgets.classes, destinations: Array(budgets.destinations.prefix(limit)),
            surfaces: surfaces, isMore: budgets.destinations.count > limit)
        return .json { page.write(to: &$0) }
    }
}
