/// Widgets and controls of devices by their places, and when each is looked at next.
struct SurfaceTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Surfaces, ReloadSurface>()
    private var free: [SurfaceSlot] = []
    /// When each is looked at next, by its place.
    var deadlines = DeadlineHeap<Tables.Surfaces>()

    private var wishes = TurnQueue<ReloadWish>()
    private var members: Set<ReloadWish> = []

    init() {}

    // MARK: Wishes

    /// It is granted in a piece of this step or of a later one; once, however often it is made
    /// until then.
    mutating func wish(_ wish: ReloadWish) {
        if members.insert(wish).inserted { wishes.append(wish) }
    }

    /// The wish that is granted next.
    mutating func popWish() -> ReloadWish? {
        guard let wish = wishes.popFirst() else { return nil }
        members.remove(wish)
        return wish
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
