/// Widgets and controls of devices by their places, and when each is looked at next.
struct SurfaceTable: RandomAccessCollection, Sendable {
    private var rows = SlotArray<Tables.Surfaces, ReloadSurface>()
    private var free: [SurfaceSlot] = []
    /// When each is looked at next, by its place.
    var deadlines = DeadlineHeap<Tables.Surfaces>()

    init() {}

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
