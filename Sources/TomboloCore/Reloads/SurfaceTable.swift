/// Widgets and controls of all devices by their slots, and when each is examined next.
struct SurfaceTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Surfaces, ReloadSurface>()
    private var free: [SurfaceSlot] = []
    /// When each surface is examined next, by slot.
    var deadlines = DeadlineHeap<Tables.Surfaces>()

    private var wishes = TurnQueue<Turn>()
    private var members: Set<ReloadWish> = []
    /// Number of owed reloads of each activity whose wishes are not all carried out.
    private var debts: [Int64: Int] = [:]

    /// What waits to be carried out, in this step or a later one.
    enum Turn: Hashable, Sendable {
        case wish(ReloadWish)
        /// Follows the wishes of one owed reload: these are done. The number is the activity's.
        case paid(Int64)
    }

    init() {}

    // MARK: Wishes

    /// Queues the wishes of an owed reload. A wish that is queued already is not added again.
    mutating func owe(_ number: Int64, _ all: [ReloadWish]) {
        for wish in all where members.insert(wish).inserted { wishes.append(.wish(wish)) }
        wishes.append(.paid(number))
        debts[number, default: 0] += 1
    }

    /// Removes and returns what is carried out next.
    mutating func popWish() -> Turn? {
        guard let turn = wishes.popFirst() else { return nil }
        if case .wish(let wish) = turn { members.remove(wish) }
        return turn
    }

    /// Notes that one owed reload of an activity is done. Returns true if the activity owes no
    /// other.
    mutating func isPaid(_ number: Int64) -> Bool {
        let left = (debts[number] ?? 1) - 1
        debts[number] = left > 0 ? left : nil
        return left <= 0
    }

    var hasWishes: Bool { !wishes.isEmpty }

    // MARK: Rows

    var startIndex: SurfaceSlot { rows.startIndex }
    /// The end of all slots, used or free.
    var endIndex: SurfaceSlot { rows.endIndex }

    subscript(slot: SurfaceSlot) -> ReloadSurface {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    /// True if `push` is the reload that this surface has in flight.
    func isInFlight(_ push: PushID, _ slot: SurfaceSlot) -> Bool {
        indices.contains(slot) && !self[slot].isGone && self[slot].phase == .inFlight(push)
    }

    /// Lets the surface be examined in this step or a later one.
    mutating func wake(_ slot: SurfaceSlot, now: Instant) {
        deadlines.set(slot, at: Instant.earlier(deadlines.at(slot), now))
    }

    mutating func insert(_ surface: ReloadSurface) -> SurfaceSlot {
        guard let slot = free.popLast() else { return rows.append(surface) }
        rows[slot] = surface
        return slot
    }

    /// Frees the slot. The old surface can be read until another one gets the slot.
    mutating func remove(_ slot: SurfaceSlot) { free.append(slot) }
}
