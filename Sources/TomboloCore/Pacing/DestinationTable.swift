/// All destinations by their places, and when each is looked at next.
///
/// A place is its destination's until `remove`; then the next one takes it. A destination is read
/// and changed where it is.
struct DestinationTable: Sendable {
    private var rows = SlotTable<Tables.Cards, Destination>()
    private var counts: [TenantID: Int] = [:]
    private var nextNumber: Int64 = 1
    private var pushes: UInt64 = 0
    /// When each is looked at next, by its place.
    var deadlines = DeadlineHeap<Tables.Cards>()
    /// Those that this step looks at before it answers, in this order.
    private var woken = TurnQueue<CardSlot>()

    init() {}

    /// Every place, taken or vacant.
    var indices: Range<CardSlot> { rows.indices }
    /// Places that are taken.
    var count: Int { rows.count }

    subscript(slot: CardSlot) -> Destination {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    func holds(_ slot: CardSlot) -> Bool { rows.holds(slot) }

    /// A copy; nil for a vacant place.
    func at(_ slot: CardSlot) -> Destination? { rows.at(slot) }

    /// Places of a tenant's activities on devices and channels.
    func count(of tenant: TenantID) -> Int { counts[tenant] ?? 0 }

    // MARK: Waking

    /// It is looked at in a piece of this step or of a later one.
    mutating func wake(_ slot: CardSlot, now: Instant) {
        deadlines.set(slot, at: Instant.earlier(deadlines.at(slot), now))
    }

    /// It is looked at in this step, before the step answers: for what the step's own event
    /// changes.
    mutating func wakeFirst(_ slot: CardSlot) { woken.append(slot) }

    /// The next that `wakeFirst` named.
    mutating func popWoken() -> CardSlot? { woken.popFirst() }

    // MARK: Coming and leaving

    mutating func insert(_ destination: Destination, of tenant: TenantID) -> CardSlot {
        counts[tenant, default: 0] += 1
        return rows.insert(destination)
    }

    /// Frees a place that is taken.
    mutating func remove(_ slot: CardSlot, of tenant: TenantID) {
        counts[tenant, default: 0] -= 1
        deadlines.set(slot, at: nil)
        rows.remove(slot)
    }

    mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// No destination gets this number, or a lower one, any more.
    mutating func skip(_ number: Int64) { nextNumber = max(nextNumber, number + 1) }

    /// Another number for each push.
    mutating func takePush() -> UInt64 {
        pushes &+= 1
        return pushes
    }
}
