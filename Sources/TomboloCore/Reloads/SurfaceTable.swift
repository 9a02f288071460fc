/// Widgets and controls of devices by their slots, and when each is looked at next.
struct SurfaceTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Surfaces, ReloadSurface>()
    private var free: [SurfaceSlot] = []
    /// When each surface is looked at next, by its slot.
    var deadlines = DeadlineHeap<Tables.Surfaces>()

    private var wishes = TurnQueue<Turn>()
    private var members: Set<ReloadWish> = []
    /// How many owed reloads of each activity are still to be granted.
    private var debts: [Int64: Int] = [:]

    /// A turn, granted in a part of this step or of a later one.
    enum Turn: Hashable, Sendable {
        case wish(ReloadWish)
        /// All wishes of an owed reload of the activity with this number are granted.
        case paid(Int64)
    }

    init() {}

    // MARK: Wishes

    /// Queues the wishes of an owed reload; a wish that is already queued is not queued again.
    mutating func owe(_ number: Int64, _ all: [ReloadWish]) {
        for wish in all where members.insert(wish).inserted { wishes.append(.wish(wish)) }
        wishes.append(.paid(number))
        debts[number, default: 0] += 1
    }

    /// The turn that is granted next.
    mutating func popWish() -> Turn? {
        guard let turn = wishes.popFirst() else { return nil }
        if case .wish(let wish) = turn { members.remove(wish) }
        return turn
    }

    /// One owed reload is granted. Returns whether it was the activity's last.
    mutating func isPaid(_ number: Int64) -> Bool {
        let left = (debts[number] ?? 1) - 1
        debts[number] = left > 0 ? left : nil
        return left <= 0
    }

    var hasWishes: Bool { !wishes.isEmpty }

    // MARK: Rows

    var startIndex: SurfaceSlot { rows.startIndex }
    /// Counts all slots, free ones too.
    var endIndex: SurfaceSlot { rows.endIndex }

    subscript(slot: SurfaceSlot) -> ReloadSurface {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    /// Whether this push is the one whose outcome a surface waits for.
    func isInFlight(_ push: PushID, _ slot: SurfaceSlot) -> Bool {
        indices.contains(slot) && !self[slot].isGone && self[slot].phase == .inFlight(push)
    }

    /// The surface is looked at in a part of this step or of a later one.
    mutating func wake(_ slot: SurfaceSlot, now: Instant) {
        deadlines.set(slot, at: Instant.earlier(deadlines.at(slot), now))
    }

    mutating func insert(_ surface: ReloadSurface) -> SurfaceSlot {
        guard let slot = free.popLast() else { return rows.append(surface) }
        rows[slot] = surface
        return slot
    }

    /// Frees the slot for another surface; until then the old one stays readable.
    mutating func remove(_ slot: SurfaceSlot) { free.append(slot) }
}
