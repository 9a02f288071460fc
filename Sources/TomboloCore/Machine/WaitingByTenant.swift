/// For each tenant, the number of destinations where a change waits, counted in pieces.
package struct WaitingByTenant: Sendable {
    package private(set) var counts: [TenantID: Int] = [:]
    /// True after the last destination.
    package private(set) var isWhole = false
    private var place = 0

    package init() {}

    /// Counts the next destinations.
    package mutating func countMore(of core: borrowing Core) {
        let count = core.destinations.indices.count
        let end = min(count, place + IDPage.pieceMax)
        // Neighbours are mostly of one tenant: a dictionary is asked once for a run of them.
        var run: (tenant: TenantID, count: Int)?
        for slot in CardSlot(min(place, end))..<Slot(end) where core.destinations.holds(slot) {
            guard core.destinations[slot].delay?.isOfChange == true else { continue }
            let tenant = core.activities[core.destinations[slot].activity].key.tenant
            if let run, run.tenant != tenant { counts[run.tenant, default: 0] += run.count }
            run = (tenant, run?.tenant == tenant ? (run?.count ?? 0) + 1 : 1)
        }
        if let run { counts[run.tenant, default: 0] += run.count }
        (place, isWhole) = (end, end == count)
    }
}
