/// Widgets and controls of devices by their places, and when each is looked at next.
struct SurfaceTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Surfaces, ReloadSurface>()
    private var free: [SurfaceSlot] = []
    /// When each is looked at next, by its place.
    var deadlines = DeadlineHeap<Tables.Surfaces>()

    private var wishes = TurnQueue<Turn>()
    private var members: Set<ReloadWish> = []
    /// How often each activity's reloads are still to be paid.
    private var debts: [Int64: Int] = [:]

    /// What is granted in a piece of this step or of a later one.
    enum Turn: Hashable, Sendable {
        case wish(ReloadWish)
        /// All wishes of what an activity of this number owed are granted.
        case paid(Int64)
    }

    init() {}

    // MARK: Wishes

    /// What is owed is granted; each wish once, however often it is made until then.
    mutating func owe(_ number: Int64, _ all: [ReloadWish]) {
        for wish in all where members.insert(wish).inserted { wishes.append(.wish(wish)) }
        wishes.append(.paid(number))
        debts[number, default: 0] += 1
    }

    /// What is granted next.
    mutating func popWish() -> Turn? {
        guard let turn = wishes.popFirst() else { return nil }
        if case .wish(let wish) = turn { members.remove(wish) }
        return turn
    }

    /// One debt is paid. Answers whether it was the last of the activity.
    mutating func isPaid(_ number: Int64) -> Bool {
        let left = (debts[number] ?? 1) - 1
        debts[number] = left > 0 ? left : nil
        return left <= 0
    }

    var hasWishes: Bool { !wishes.isEmpty }

    // MARK: Rows

    var startIndex: SurfaceSlot { rows.startIndex }
    /// Places, free ones among them.
    var endIndex: SurfaceSlot { rows.endIndex }

    subscript(slot: SurfaceSlot) -> ReloadSurface {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    /// Whether a push is the one that a surface waits for the outcome of.
    func isInFlight(_ push: PushID, _ slot: SurfaceSlot) -> Bool {
        indices.contains(slot) && !self[slot].isGone && self[slot].phase == .inFlight(push)
    }

    /// It is looked at in a piece of this step or of a later one.
    mutating func wake(_ slot: SurfaceSlot, now: Instant) {
        deadlines.set(slot, at: Instant.earlier(deadlines.at(slot), now))
    }

    mutating func insert(_ surface: ReloadSurface) -> SurfaceSlot {
        guard let slot = free.popLast() else { return rows.append(surface) }
        rows[slot] = surface
        return slot
    }

    /// Another surface may have the place; what was there stays to be read until then.
    mutating func remove(_ slot: SurfaceSlot) { free.append(slot) }
}
