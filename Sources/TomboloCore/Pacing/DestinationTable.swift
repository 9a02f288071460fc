/// All destinations by their slots, and when each is examined next. A slot belongs to its
/// destination until `remove`; then another one may get it. Destinations are read and changed in
/// place.
struct DestinationTable: Sendable {
    private var rows = SlotTable<Tables.Cards, Destination>()
    private var counts: [TenantID: Int] = [:]
    private var nextNumber: Int64 = 1
    private var pushes: UInt64 = 0
    /// When each destination is examined next, by slot.
    var deadlines = DeadlineHeap<Tables.Cards>()
    /// Destinations that this step examines before it answers, in this order.
    private(set) var woken = TurnQueue<CardSlot>()

    init() {}

    /// All slots, used or free.
    var indices: Range<CardSlot> { rows.indices }
    var count: Int { rows.count }

    subscript(slot: CardSlot) -> Destination {
        @inline(__always) _read { yield rows[slot] }
        @inline(__always) _modify { yield &rows[slot] }
    }

    func holds(_ slot: CardSlot) -> Bool { rows.holds(slot) }

    func at(_ slot: CardSlot) -> Destination? { rows.at(slot) }

    /// Number of the tenant's destinations, on devices and channels.
    func count(of tenant: TenantID) -> Int { counts[tenant] ?? 0 }

    /// True if no start of this destination was tried, and `device` has no other card of its life:
    /// then it may continue with a card that the phone has, also with one of a lower number.
    func isUntriedAlone(_ destination: Destination, of device: Device?) -> Bool {
        !destination.mayHaveCard
            && device?.destinations.allSatisfy { slot in
                guard let other = at(slot) else { return true }
                return other.number == destination.number
                    || other.activity != destination.activity
                    || other.incarnation != destination.incarnation
            } ?? true
    }

    // MARK: Waking

    /// Lets the destination be examined now or, if too much is due, in a later step.
    mutating func wake(_ slot: CardSlot, now: Instant) {
        deadlines.set(slot, at: Instant.earlier(deadlines.at(slot), now))
    }

    /// Lets the destination be examined in this step, before its answers. For changes that the
    /// step's own input makes.
    mutating func wakeFirst(_ slot: CardSlot) { woken.append(slot) }

    /// The next destination that `wakeFirst` has added.
    mutating func popWoken() -> CardSlot? { woken.popFirst() }

    // MARK: Coming and leaving

    mutating func insert(_ destination: Destination, of tenant: TenantID) -> CardSlot {
        counts[tenant, default: 0] += 1
        return rows.insert(destination)
    }

    mutating func remove(_ slot: CardSlot, of tenant: TenantID) {
        counts[tenant, default: 0] -= 1
        deadlines.set(slot, at: nil)
        rows.remove(slot)
    }

    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Makes sure that no destination gets this number or a lower one.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }

    /// A different number for each push.
    mutating func takePush() -> UInt64 {
        pushes &+= 1
        return pushes
    }
}
