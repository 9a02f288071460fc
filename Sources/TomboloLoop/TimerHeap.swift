/// Timers in the order of their deadlines: a binary heap. Cancelled entries stay in it until they
/// reach the top or a sweep removes them.
///
/// `add` and `pop` cost O(log n); `cancel` costs O(1), unless it sweeps. Entries for the same
/// instant leave in the order of `tie`: on a real loop the order of scheduling, in a simulation a
/// random number. There are at most four entries for each live timer, plus 64.
package struct TimerHeap {
    private struct Entry {
        var at: Int64
        var tie: UInt64
        var slot: UInt32
        var generation: UInt32

        @inline(__always)
        func precedes(_ other: Entry) -> Bool {
            at != other.at ? at < other.at : tie < other.tie
        }
    }

    private static let sweepFrom = 64

    private var heap: [Entry] = []
    private var targets: [(any TimerTarget)?] = []
    private var generations: [UInt32] = []
    private var freeSlots: [UInt32] = []

    /// Number of timers that are neither fired nor cancelled.
    package private(set) var liveCount = 0

    package init() {}

    /// Time of the next live timer.
    package mutating func first() -> MonotonicInstant? {
        dropCancelled()
        return heap.first.map { MonotonicInstant(nanoseconds: $0.at) }
    }

    /// Adds a timer. Of the timers for one instant, the one with the lower `tie` fires first.
    package mutating func add(
        at: MonotonicInstant, tie: UInt64, _ target: any TimerTarget
    ) -> TimerID {
        let slot: UInt32
        if let free = freeSlots.popLast() {
            slot = free
            targets[Int(slot)] = target
        } else {
            slot = UInt32(targets.count)
            targets.append(target)
            generations.append(0)
        }
        let generation = generations[Int(slot)]
        heap.append(Entry(at: at.nanoseconds, tie: tie, slot: slot, generation: generation))
        moveUp(heap.count - 1)
        liveCount += 1
        return TimerID(slot: slot, generation: generation)
    }

    package mutating func cancel(_ id: TimerID) {
        guard id.slot < generations.count, generations[Int(id.slot)] == id.generation,
            targets[Int(id.slot)] != nil
        else { return }
        release(id.slot)
        if heap.count > Self.sweepFrom, heap.count > 4 * liveCount { sweep() }
    }

    /// Removes and returns the next timer that is due at `now`.
    package mutating func pop(until now: MonotonicInstant) -> (any TimerTarget)? {
        dropCancelled()
        guard let entry = heap.first, entry.at <= now.nanoseconds else { return nil }
        let target = targets[Int(entry.slot)]
        release(entry.slot)
        dropFirst()
        return target
    }

    private mutating func release(_ slot: UInt32) {
        targets[Int(slot)] = nil
        generations[Int(slot)] &+= 1
        freeSlots.append(slot)
        liveCount -= 1
    }

    private func isLive(_ entry: Entry) -> Bool {
        generations[Int(entry.slot)] == entry.generation
    }

    private mutating func dropCancelled() {
        while let entry = heap.first, !isLive(entry) { dropFirst() }
    }

    private mutating func dropFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        moveDown(0)
    }

    private mutating func sweep() {
        heap = heap.filter { isLive($0) }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { moveDown(index) }
    }

    private mutating func moveUp(_ start: Int) {
        var index = start
        let entry = heap[index]
        while index > 0 {
            let parent = (index - 1) >> 1
            guard entry.precedes(heap[parent]) else { break }
            heap[index] = heap[parent]
            index = parent
        }
        heap[index] = entry
    }

    private mutating func moveDown(_ start: Int) {
        var index = start
        let entry = heap[index]
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].precedes(heap[child]) { child += 1 }
            guard heap[child].precedes(entry) else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = entry
    }
}
