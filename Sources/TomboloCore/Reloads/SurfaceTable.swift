/// Widgets and controls of devices by their places, and when each is looked at next.
struct SurfaceTable: RandomAccessCollection, Sendable {
    private var rows: [ReloadSurface] = []
    private var free: [Int] = []
    /// When each is looked at next, by its place.
    var deadlines = DeadlineHeap()

    init() {}

    var startIndex: Int { 0 }
    /// Places, free ones among them.
    var endIndex: Int { rows.count }

    subscript(slot: Int) -> ReloadSurface {
        _read { yield rows[slot] }
        _modify { yield &rows[slot] }
    }

    mutating func insert(_ surface: ReloadSurface) -> Int {
        guard let slot = free.popLast() else {
            rows.append(surface)
            return rows.count - 1
        }
        rows[slot] = surface
        return slot
    }

    /// Another surface may have the place; what was there stays to be read until then.
    mutating func remove(_ slot: Int) { free.append(slot) }
}
