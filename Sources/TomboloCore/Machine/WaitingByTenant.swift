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
        for slot in CardSlot(min(place, end))..<Slot(end) where core.destinations.holds(slot) {
            guard core.destinations[slot].delay?.isOfChange == true else { continue }
            counts[core.activities[core.destinations[slot].activity].key.tenant, default: 0] += 1
        }
        (place, isWhole) = (end, end == count)
    }
}
