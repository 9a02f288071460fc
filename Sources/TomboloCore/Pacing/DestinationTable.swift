/// All destinations by their slots, and when each is looked at next.
///
/// A slot belongs to a destination until `remove`; then the next destination takes it. A
/// destination is read and changed in place.
struct DestinationTable: Sendable {
    private var rows = SlotTable<Tables.Cards, Destination>()
    private var counts: [TenantID: Int] = [:]
    private var nextNumber: Int64 = 1
    private var pushes: UInt64 = 0
    /// When each destination is looked at next, by its slot.
    var deadlines = DeadlineHeap<Tables.Cards>()
    /// The destinations that this step looks at before it answers, in this order.
    private var woken = TurnQueue<CardSlot>()

    init() {}

    /// Every slot, taken or vacant.
    var indices: Range<CardSlot> { rows.indices }
    /// The number of taken slots.
    var count: Int { rows.count }

    subscript(slot: CardSlot) -> Destination {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    func holds(_ slot: CardSlot) -> Bool { rows.holds(slot) }

    /// A copy of the destination; nil for a vacant slot.
    func at(_ slot: CardSlot) -> Destination? { rows.at(slot) }

    /// The number of a tenant's destinations, on devices and channels.
    func count(of tenant: TenantID) -> Int { counts[tenant] ?? 0 }

    // MARK: Waking

    /// The destination is looked at in a part of this step or of a later one.
    mutating func wake(_ slot: CardSlot, now: Instant) {
        deadlines.set(slot, at: Instant.earlier(deadlines.at(slot), now))
    }

    /// The destination is looked at in this step, before the step answers. For changes by the
    /// step's own event.
    mutating func wakeFirst(_ slot: CardSlot) { woken.append(slot) }

    /// The next destination given to `wakeFirst`.
    mutating func popWoken() -> CardSlot? { woken.popFirst() }

    // MARK: Coming and leaving

    mutating func insert(_ destination: Destination, of tenant: TenantID) -> CardSlot {
        counts[tenant, default: 0] += 1
        return rows.insert(destination)
    }

    /// Frees a taken slot.
    mutating func remove(_ slot: CardSlot, of tenant: TenantID) {
        counts[tenant, default: 0] -= 1
        deadlines.set(slot, at: nil)
        rows.remove(slot)
    }

    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// No later destination gets this number or a lower one.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }

    /// Returns another number for each push.
    mutating func takePush() -> UInt64 {
        pushes &+= 1
        return pushes
    }
}
